package org.sparkkinesis.consume.fanout

import java.util.concurrent.{CompletableFuture, ConcurrentHashMap}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.error.ConsumerErrors
import org.sparkkinesis.event.{
  ConsumerAdopted, ConsumerDeregistered, ConsumerLeft, ConsumerReady, ConsumerRegistered, EventSink
}
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.retry.{Jitter, Retrier, RetryPolicies, RetryRules}
import org.sparkkinesis.service.{KinesisService, Operation, ServiceErrorKind, ServiceException, StreamConsumer}

/**
 * Registers enhanced fan-out consumers, waits until they can be used, and deregisters those that it registered itself.
 * For the driver; one for each query. Nothing blocks; futures fail with [[KinesisConnectorException]] where it knows the
 * cause, else with [[ServiceException]].
 *
 * Any number of drivers may ask for the same name at the same time: one registers it, the others find it.
 */
final class StreamConsumerRegistrar(
    service: KinesisService,
    scheduler: Scheduler,
    policies: RetryPolicies,
    rules: RetryRules,
    activeTimeout: FiniteDuration = 5.minutes,
    random: () => Double = Jitter.random,
    events: EventSink = EventSink.Discard
) {
  import StreamConsumerRegistrar._

  private val retrier = new Retrier(scheduler, rules, random)
  private val own = ConcurrentHashMap.newKeySet[String]

  /** The ARN of the stream's consumer of this name, active; registered now if there was none. */
  def ensure(streamArn: String, consumerName: String): CompletableFuture[String] =
    settle(streamArn, s"$streamArn/consumer/$consumerName", deadline(), FirstLook) {
      find(service.describeStreamConsumer(streamArn, consumerName)).thenCompose {
        case Some(consumer) => CompletableFuture.completedFuture(Option(consumer))
        // Drivers that were started together ask apart, within the rate that the service takes.
        case None => pause(Stagger * random()).thenCompose((_: Unit) => register(streamArn, consumerName))
      }
    }

  /** The same for a consumer that the user has registered. */
  def existing(streamArn: String, consumerArn: String): CompletableFuture[String] =
    settle(streamArn, consumerArn, deadline(), FirstLook) {
      find(service.describeStreamConsumer(consumerArn)).thenApply { found =>
        if (found.isEmpty)
          throw ConsumerErrors.notFound(consumer = consumerArn, stream = streamArn)
        found
      }
    }

  /** Whether the stream has a consumer of this name, whatever its state. */
  def isThere(streamArn: String, consumerName: String): CompletableFuture[Boolean] =
    find(service.describeStreamConsumer(streamArn, consumerName)).thenApply(_.nonEmpty)

  /** Takes a consumer for its own that it registered in an earlier life. */
  def adopt(consumerArn: String): Unit =
    if (own.add(consumerArn)) events.emit(ConsumerAdopted(streamOf(consumerArn), consumerArn))

  /** What this registrar has registered, or adopted, and not deregistered. */
  def registered: Set[String] = own.asScala.toSet

  /**
   * Deregisters what this registrar registered or adopted, and nothing else.
   *
   * @return
   *   completes within `limit`, with the ARNs that are still registered as far as is known; never fails
   */
  def deregisterOwn(limit: FiniteDuration): CompletableFuture[Set[String]] = {
    // One after the other: together, those of a crowded stream would use up their retries on its rate of changes.
    val done = registered.toSeq.groupBy(streamOf).values.map {
      _.foldLeft(CompletableFuture.completedFuture(()))((before, arn) =>
        before.thenCompose((_: Unit) => deregister(arn))
      )
    }.toSeq
    val result = new CompletableFuture[Set[String]]
    val timer = scheduler.schedule(limit) {
      registered.foreach(arn => events.emit(ConsumerLeft(streamOf(arn), arn, s"it took longer than $limit")))
      result.complete(registered)
      ()
    }
    CompletableFuture.allOf(done: _*).thenRun { () =>
      timer.cancel()
      result.complete(registered)
      ()
    }
    result
  }

  /** Never fails; what could not be deregistered stays known as registered. */
  private def deregister(arn: String): CompletableFuture[Unit] =
    retrier.retry(policies(Operation.DeregisterStreamConsumer))(() => service.deregisterStreamConsumer(arn)).handle {
      (_: Unit, failure) =>
        Option(failure).map(Futures.unwrap) match {
          case Some(error: ServiceException) if error.kind != ServiceErrorKind.ResourceNotFound =>
            events.emit(ConsumerLeft(streamOf(arn), arn, error.getMessage))
          case Some(error) if !error.isInstanceOf[ServiceException] =>
            events.emit(ConsumerLeft(streamOf(arn), arn, error.toString))
          case _ => if (own.remove(arn)) events.emit(ConsumerDeregistered(streamOf(arn), arn))
        }
    }

  /** Looks until the consumer is active. An empty answer, and a consumer that is being deleted, mean: look again. */
  private def settle(streamArn: String, what: String, deadline: Long, wait: FiniteDuration)(
      look: => CompletableFuture[Option[StreamConsumer]]
  ): CompletableFuture[String] = look.thenCompose {
    case Some(consumer) if consumer.status == "ACTIVE" =>
      events.emit(ConsumerReady(streamArn, consumer.arn))
      CompletableFuture.completedFuture(consumer.arn)
    case other if scheduler.nanoTime >= deadline =>
      CompletableFuture.failedFuture(
        ConsumerErrors.notReady(
          consumer = what,
          status = other.fold("not there")(_.status),
          limit = activeTimeout.toString
        )
      )
    case _ => pause(wait).thenCompose((_: Unit) => settle(streamArn, what, deadline, (wait * 2).min(LookPeriod))(look))
  }

  private def register(streamArn: String, consumerName: String): CompletableFuture[Option[StreamConsumer]] =
    flatten(
      retrier.retry(policies(Operation.RegisterStreamConsumer))(() =>
        service.registerStreamConsumer(streamArn, consumerName)
      ).handle {
        (consumer, failure) =>
          Option(failure).map(Futures.unwrap) match {
            case None =>
              own.add(consumer.arn)
              events.emit(ConsumerRegistered(streamArn, consumer.arn))
              CompletableFuture.completedFuture(Option(consumer))
            // Somebody else was faster; the next look finds what they registered.
            case Some(error: ServiceException) if error.kind == ServiceErrorKind.ResourceInUse =>
              CompletableFuture.completedFuture(Option.empty[StreamConsumer])
            case Some(error: ServiceException) if error.kind == ServiceErrorKind.LimitExceeded =>
              explainLimit(streamArn, consumerName, error)
            case Some(error) => CompletableFuture.failedFuture[Option[StreamConsumer]](error)
          }
      }
    )

  /** Either there are as many consumers as there may be, or the calls were too many; the list tells which. */
  private def explainLimit(
      streamArn: String,
      consumerName: String,
      error: ServiceException
  ): CompletableFuture[Option[StreamConsumer]] = list(streamArn, None, Nil).thenApply { consumers =>
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

  private def pause(of: Duration): CompletableFuture[Unit] = {
    val over = new CompletableFuture[Unit]
    scheduler.schedule(of.toNanos.nanos) {
      over.complete(())
      ()
    }
    over
  }

  private def streamOf(consumerArn: String): String = consumerArn.split("/consumer/").head

  private def deadline(): Long = scheduler.nanoTime + activeTimeout.toNanos
}

private object StreamConsumerRegistrar {

  /** Well within the rate of DescribeStreamConsumer, for a handful of drivers together. */
  val LookPeriod: FiniteDuration = 1.second
  val FirstLook: FiniteDuration = 100.millis

  val Stagger: FiniteDuration = 1.second / KinesisQuotas.CallRate.ConsumerChangePerStream.toLong * 2
}
