package org.sparkkinesis.consume.fanout

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{CancellationException, CompletableFuture, ConcurrentHashMap}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.error.ConsumerErrors
import org.sparkkinesis.event.{
  ConsumerAdopted, ConsumerDeregistered, ConsumerLeft, ConsumerReady, ConsumerRegistered, EventSink
}
import org.sparkkinesis.model.{ConsumerStatus, KinesisQuotas}
import org.sparkkinesis.retry.{Jitter, Retrier, RetryPolicies, RetryRules}
import org.sparkkinesis.service.{KinesisService, Operation, ServiceErrorKind, ServiceException, StreamConsumer}

/**
 * Registers enhanced fan-out consumers, waits until they are active, and deregisters those that it registered. Used on
 * the driver, one instance per query. It does not block. Futures fail with [[KinesisConnectorException]] if the cause
 * is known, otherwise with [[ServiceException]].
 *
 * Several drivers may request the same name at the same time: one registers the consumer and the others find it.
 */
final class StreamConsumerRegistrar(
    service: KinesisService,
    scheduler: Scheduler,
    policies: RetryPolicies,
    rules: RetryRules,
    random: () => Double = Jitter.random,
    events: EventSink = EventSink.Discard
) {
  private val retrier = new Retrier(scheduler, rules, random)
  private val own = ConcurrentHashMap.newKeySet[String]

  /**
   * The registrations whose outcome is not known, by stream and name: they are running, or had no answer. The future is
   * done when the call has ended.
   */
  private val unsettled = new ConcurrentHashMap[(String, String), CompletableFuture[Unit]]
  @volatile private var isEnding = false

  /** Returns the ARN of the active consumer with this name. Registers the consumer if it does not exist. */
  def ensure(streamArn: String, consumerName: String): CompletableFuture[String] =
    settle(streamArn, s"$streamArn/consumer/$consumerName", deadline()) {
      find(service.describeStreamConsumer(streamArn, consumerName)).thenCompose {
        case Some(consumer) => CompletableFuture.completedFuture(Option(consumer))
        // Drivers that start together register at random times, so that the others find the first one's consumer.
        case None =>
          pause(policies(Operation.RegisterStreamConsumer).pause(1, random()))
            .thenCompose((_: Unit) => register(streamArn, consumerName))
      }
    }

  /** Returns the ARN of an active consumer that the user has registered. */
  def existing(streamArn: String, consumerArn: String): CompletableFuture[String] =
    settle(streamArn, consumerArn, deadline()) {
      find(service.describeStreamConsumer(consumerArn)).thenApply { found =>
        if (found.isEmpty)
          throw ConsumerErrors.notFound(consumer = consumerArn, stream = streamArn)
        found
      }
    }

  /** Whether the stream has a consumer with this name, in any status. */
  def isThere(streamArn: String, consumerName: String): CompletableFuture[Boolean] =
    find(service.describeStreamConsumer(streamArn, consumerName)).thenApply(_.nonEmpty)

  /** Treats a consumer that an earlier run of the query registered as one of its own. */
  def adopt(consumerArn: String): Unit =
    if (own.add(consumerArn)) events.emit(ConsumerAdopted(streamOf(consumerArn), consumerArn))

  /** Like [[adopt]], for a consumer of which only the name is known. It may not exist. */
  def adopt(streamArn: String, consumerName: String): CompletableFuture[Unit] =
    find(service.describeStreamConsumer(streamArn, consumerName)).thenApply(_.foreach(found => adopt(found.arn)))

  /** ARNs of the consumers that this registrar registered or adopted and did not deregister. */
  def registered: Set[String] = own.asScala.toSet

  /** Whether a consumer may be registered of which this registrar does not know. */
  def isUncertain: Boolean = !unsettled.isEmpty

  /**
   * Deregisters only the consumers that this registrar registered or adopted, also those whose registration is still
   * running. After this call it registers none.
   *
   * @return
   *   completes within `limit` with the ARNs that are still registered as far as is known; never fails
   */
  def deregisterOwn(limit: FiniteDuration): CompletableFuture[Set[String]] = {
    isEnding = true
    val result = new CompletableFuture[Set[String]]
    val done = settleAll().thenCompose((_: Unit) => deregisterAll(() => result.isDone))
    val timer = scheduler.schedule(limit) {
      registered.foreach(arn => events.emit(ConsumerLeft(streamOf(arn), arn, s"the call took longer than $limit")))
      result.complete(registered)
      ()
    }
    done.thenRun { () =>
      timer.cancel()
      result.complete(registered)
      ()
    }
    result
  }

  /** Waits for the running registrations, and looks for the consumers of those that had no answer. Never fails. */
  private def settleAll(): CompletableFuture[Unit] =
    all(unsettled.asScala.toSeq.map { case (key @ (streamArn, name), ended) =>
      ended.thenCompose[Unit] { (_: Unit) =>
        if (!unsettled.containsKey(key)) CompletableFuture.completedFuture(())
        else
          Futures.attempt(adopt(streamArn, name)).handle { (_: Unit, failure) =>
            if (failure == null) unsettled.remove(key)
            ()
          }
      }
    })

  /**
   * Consumers of a stream are deregistered one after the other, because concurrent calls would exceed the rate limit
   * and use up their retries. Never fails.
   */
  private def deregisterAll(isLate: () => Boolean): CompletableFuture[Unit] =
    all(registered.toSeq.groupBy(streamOf).values.map {
      _.foldLeft(CompletableFuture.completedFuture(()))((before, arn) =>
        before.thenCompose((_: Unit) => deregister(arn, isLate))
      )
    }.toSeq)

  private def all(parts: Seq[CompletableFuture[Unit]]): CompletableFuture[Unit] =
    CompletableFuture.allOf(parts: _*).thenApply(_ => ())

  /**
   * Never fails. A consumer that could not be deregistered stays in `registered`.
   *
   * @param isLate
   *   whether nobody waits for it any more
   */
  private def deregister(arn: String, isLate: () => Boolean, times: Int = 1): CompletableFuture[Unit] =
    flatten(
      retrier.retry(policies(Operation.DeregisterStreamConsumer))(() => service.deregisterStreamConsumer(arn)).handle {
        (_: Unit, failure) =>
          Option(failure).map(Futures.unwrap) match {
            // It is still being created.
            case Some(error: ServiceException) if error.kind == ServiceErrorKind.ResourceInUse && !isLate() =>
              pause(policies(Operation.DescribeStreamConsumer).longPause(times, random()))
                .thenCompose((_: Unit) => deregister(arn, isLate, times + 1))
            case other =>
              other match {
                case Some(error: ServiceException) if error.kind != ServiceErrorKind.ResourceNotFound =>
                  events.emit(ConsumerLeft(streamOf(arn), arn, error.getMessage))
                case Some(error) if !error.isInstanceOf[ServiceException] =>
                  events.emit(ConsumerLeft(streamOf(arn), arn, error.toString))
                case _ => if (own.remove(arn)) events.emit(ConsumerDeregistered(streamOf(arn), arn))
              }
              CompletableFuture.completedFuture(())
          }
      }
    )

  /** Describes the consumer until it is active. If it does not exist yet or is being deleted, describes it again. */
  private def settle(streamArn: String, what: String, deadline: Long, looks: Int = 1)(
      look: => CompletableFuture[Option[StreamConsumer]]
  ): CompletableFuture[String] = look.thenCompose {
    case Some(consumer) if consumer.status == ConsumerStatus.Active =>
      events.emit(ConsumerReady(streamArn, consumer.arn))
      CompletableFuture.completedFuture(consumer.arn)
    case other if scheduler.nanoTime >= deadline =>
      CompletableFuture.failedFuture(
        ConsumerErrors.notReady(
          consumer = what,
          status = other.fold("not registered")(_.status.name),
          limit = ReadOptions.ConsumerActivation.toString
        )
      )
    case _ =>
      pause(policies(Operation.DescribeStreamConsumer).longPause(looks, random()))
        .thenCompose((_: Unit) => settle(streamArn, what, deadline, looks + 1)(look))
  }

  private def register(streamArn: String, consumerName: String): CompletableFuture[Option[StreamConsumer]] = {
    val key = (streamArn, consumerName)
    val ended = new CompletableFuture[Unit]
    val isUnanswered = new AtomicBoolean
    unsettled.put(key, ended)
    flatten(
      retrier.retry(policies(Operation.RegisterStreamConsumer))(() =>
        if (isEnding) CompletableFuture.failedFuture[StreamConsumer](new CancellationException("the query has stopped"))
        else
          Futures.attempt(service.registerStreamConsumer(streamArn, consumerName)).whenComplete { (_, failure) =>
            if (failure != null && mayHaveTakenEffect(Futures.unwrap(failure))) isUnanswered.set(true)
          }
      ).handle {
        (consumer, failure) =>
          if (failure == null) own.add(consumer.arn)
          if (failure == null || !isUnanswered.get) unsettled.remove(key)
          ended.complete(())
          Option(failure).map(Futures.unwrap) match {
            case None =>
              events.emit(ConsumerRegistered(streamArn, consumer.arn))
              CompletableFuture.completedFuture(Option(consumer))
            // Another driver registered the consumer first; the next DescribeStreamConsumer finds it.
            case Some(error: ServiceException) if error.kind == ServiceErrorKind.ResourceInUse =>
              CompletableFuture.completedFuture(Option.empty[StreamConsumer])
            case Some(error: ServiceException) if error.kind == ServiceErrorKind.LimitExceeded =>
              explainLimit(streamArn, consumerName, error)
            case Some(error) => CompletableFuture.failedFuture[Option[StreamConsumer]](error)
          }
      }
    )
  }

  private def mayHaveTakenEffect(failure: Throwable): Boolean = failure match {
    case error: ServiceException => error.kind == ServiceErrorKind.Network || error.kind == ServiceErrorKind.Internal
    case _ => true
  }

  /**
   * The error means either too many consumers or too many calls. The number of registered consumers shows which, if the
   * query may list them.
   */
  private def explainLimit(
      streamArn: String,
      consumerName: String,
      error: ServiceException
  ): CompletableFuture[Option[StreamConsumer]] = list(streamArn, None, Nil).exceptionallyCompose { failure =>
    Futures.unwrap(failure) match {
      case denied: ServiceException if denied.kind == ServiceErrorKind.AccessDenied =>
        CompletableFuture.failedFuture[Seq[StreamConsumer]](error)
      case other => CompletableFuture.failedFuture[Seq[StreamConsumer]](other)
    }
  }.thenApply { consumers =>
    if (consumers.size < KinesisQuotas.Count.ConsumersPerStream) throw error
    throw ConsumerErrors.limitReached(
      consumer = consumerName,
      stream = streamArn,
      count = consumers.size,
      existing = consumers.map(_.name).sorted.mkString(", ")
    ).causedBy(error)
  }

  private def list(
      streamArn: String,
      next: Option[String],
      before: Seq[StreamConsumer]
  ): CompletableFuture[Seq[StreamConsumer]] =
    retrier.retry(policies(Operation.ListStreamConsumers))(() =>
      service.listStreamConsumers(streamArn, next)
    ).thenCompose {
      page =>
        val consumers = before ++ page.consumers
        if (page.next.isEmpty) CompletableFuture.completedFuture(consumers) else list(streamArn, page.next, consumers)
    }

  private def find(describe: => CompletableFuture[StreamConsumer]): CompletableFuture[Option[StreamConsumer]] =
    flatten(retrier.retry(policies(Operation.DescribeStreamConsumer))(() => describe).handle { (consumer, failure) =>
      Option(failure).map(Futures.unwrap) match {
        case None => CompletableFuture.completedFuture(Option(consumer))
        case Some(error: ServiceException) if error.kind == ServiceErrorKind.ResourceNotFound =>
          CompletableFuture.completedFuture(Option.empty[StreamConsumer])
        case Some(error) => CompletableFuture.failedFuture[Option[StreamConsumer]](error)
      }
    })

  private def flatten[A](nested: CompletableFuture[CompletableFuture[A]]): CompletableFuture[A] =
    nested.thenCompose((inner: CompletableFuture[A]) => inner)

  private def pause(of: Duration): CompletableFuture[Unit] = Futures.after(scheduler, of.toNanos.nanos)

  private def streamOf(consumerArn: String): String = consumerArn.split("/consumer/").head

  private def deadline(): Long = scheduler.nanoTime + ReadOptions.ConsumerActivation.toNanos
}
