package org.sparkkinesis.spark.session.check

import java.util.concurrent.CompletableFuture

import scala.util.Using
import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.event.ConsumerLeft
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, RegisteredConsumers}

/**
 * Deregisters the enhanced fan-out consumers that a killed run of the query registered and that this run does not use:
 * it polls, or their stream is parked or has left. For the query's thread, except [[await]]. A consumer that cannot be
 * deregistered is tried again by the next run.
 *
 * @param physical
 *   returns how a stream is reached that is not open
 */
final class LeftConsumers(
    session: StreamSession,
    files: CheckpointFiles,
    environment: Environment,
    physical: String => Option[PhysicalStream]
) {
  import LeftConsumers._

  private var isDone = false

  /** The streams with such consumers; complete when their record shows that these are deregistered, or used. */
  @volatile private var running = Map.empty[String, CompletableFuture[Unit]]

  /** Waits until the consumers of a stream that joins are not being deregistered. May be called on any thread. */
  def await(stream: String): Unit =
    running.get(stream).foreach(environment.waiting.until(_, ReadOptions.ConsumerDeregistration * 2))

  /**
   * Deregisters them at the first call, which takes a bounded time.
   *
   * @param isUsed
   *   whether this run uses the consumer of a stream, or will deregister it
   */
  def deregister(isUsed: String => Boolean): Unit = if (!isDone) {
    isDone = true
    if (session.options(ReadOptions.requireConsumerDeregistration)) {
      val notes = RegisteredConsumers.all(files).flatMap(Note.of)
      // A stream that joins on another thread is open before it looks for its consumer: it waits here, or it is used.
      running = notes.map(_.stream -> new CompletableFuture[Unit]).toMap
      val (used, unused) = notes.partition(note => isUsed(note.stream))
      used.foreach(free)
      deregister(unused)
    }
  }

  private def free(note: Note): Unit = {
    running(note.stream).complete(())
    ()
  }

  private def deregister(unused: Seq[Note]): Unit = if (unused.nonEmpty)
    Using.resource(environment.scheduler("kinesis-left-consumers", 1)) { scheduler =>
      unused.map(note => note -> begin(note, scheduler).whenComplete((_, _) => free(note)))
        .foreach { case (note, done) => end(note, done) }
    }

  private def begin(note: Note, scheduler: Scheduler): CompletableFuture[Void] =
    Futures.attempt {
      val registrar = new StreamConsumerRegistrar(
        session.service(physical(note.stream).getOrElse(throw new IllegalArgumentException(note.stream))),
        scheduler,
        RetryPolicies.of(session.options),
        RetryRules.of(session.options),
        random = () => environment.random(),
        events = session.events
      )
      note.registered.foreach(registrar.adopt)
      val adopted = note.unfinished.fold(CompletableFuture.completedFuture(()))(registrar.adopt(note.stream, _))
      adopted.thenCompose((_: Unit) => registrar.deregisterOwn(ReadOptions.ConsumerDeregistration))
        .thenAccept(note.record.write(_))
    }

  private def end(note: Note, done: CompletableFuture[Void]): Unit = {
    def left(reason: String): Unit =
      note.consumers.foreach(one => session.events.emit(ConsumerLeft(note.stream, one, reason)))
    try
      if (environment.waiting.until(done, ReadOptions.ConsumerDeregistration * 2)) {
        environment.waiting.get(done)
        ()
      } else left("the service does not answer")
    catch {
      case NonFatal(failure) =>
        Futures.interruptOf(failure).foreach(throw _)
        left(String.valueOf(Futures.unwrap(failure).getMessage))
    }
  }
}

private object LeftConsumers {

  /**
   * The record of one stream's consumers.
   *
   * @param unfinished
   *   the name of a consumer during whose registration the query was killed
   */
  final case class Note(
      record: RegisteredConsumers,
      stream: String,
      registered: Set[String],
      unfinished: Option[String]
  ) {
    def consumers: Set[String] = registered ++ unfinished.map(name => s"$stream/consumer/$name")
  }

  object Note {

    /** Returns `None` for an empty record of a version that did not store the name before the registration. */
    def of(record: RegisteredConsumers): Option[Note] = {
      val registered = record.read().getOrElse(Set.empty)
      val unfinished = record.unfinished()
      unfinished.map(_._1).orElse(registered.headOption.map(_.split("/consumer/").head))
        .map(Note(record, _, registered, unfinished.map(_._2)))
    }
  }
}
