package org.sparkkinesis.simulation.write.task

import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException, StreamDescription}
import org.sparkkinesis.simulation.common.SimulatedThreads
import org.sparkkinesis.sink.kinesis._

/** Describes and opens the streams of one attempt, with what its executor knows about them. */
final private[task] class TaskStreams(
    executor: WriterProcess,
    settings: KinesisSinkSettings,
    threads: SimulatedThreads,
    random: Random
) {
  import TaskStreams._

  private val bounds = settings.newBounds

  /**
   * @param patience
   *   the time for which an outage of the service is waited for
   */
  def check(stream: StreamRef, patience: Duration): CheckedStream = {
    val limit = patience match {
      case limit: FiniteDuration => limit
      case _ => Unlimited
    }
    val asked = executor.known.find(
      Caller,
      stream,
      executor.client,
      executor.process.scheduler,
      settings.retries(Operation.DescribeStreamSummary),
      settings.rules,
      // One process is the driver and an executor.
      KnownStreams.Planner,
      random.nextDouble _
    )((_, _) => ())
    try {
      val found =
        try threads.await(asked, limit).getOrElse(throw new StreamUnusable(s"no answer within $limit")).get()
        catch { case failed: ExecutionException => throw Futures.unwrap(failed) }
      refuseUnusable(found)
      CheckedStream.of(stream, found, None)
    } finally {
      asked.cancel(true)
      ()
    }
  }

  /** Blocks until the future is done, and for `limit` at most. */
  def pause(done: CompletableFuture[_], limit: FiniteDuration): Unit = {
    threads.await(done, limit)
    ()
  }

  def refuseUnusable(found: StreamDescription): Unit =
    if (!found.status.isUsable) throw new StreamUnusable(s"${found.arn} is ${found.status}")

  def open(stream: CheckedStream, settings: KinesisSinkSettings): StreamRouter.Target =
    new StreamRouter.Target(
      stream,
      KinesisStreamSink.open(executor.client, stream, settings, bounds, executor.sink),
      () => (),
      () => stream.maxRecordBytes
    )

  def forget(stream: StreamRef): Unit = executor.known.forget(Caller, stream)

  /** Returns the failure of a write, after a stream that does not exist is forgotten. */
  def explain(stream: StreamRef, failure: Throwable): Throwable = {
    failure.getCause match {
      case error: ServiceException if error.kind == ServiceErrorKind.ResourceNotFound => forget(stream)
      case _ => ()
    }
    failure
  }
}

private object TaskStreams {
  val Caller = "caller"

  /** Longer than any simulation. */
  val Unlimited: FiniteDuration = 1000.days
}
