package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Futures, Scheduler, SerialExecutor}
import org.sparkkinesis.consume.{
  MissingResources, RecordBatch, RecordPublisher, RecordPublisherFactory, RecordSubscriber
}
import org.sparkkinesis.event.{
  CallRetried, CallThrottled, ConsumerMetrics, EventSink, IteratorRenewed, IteratorRequested, OngoingOutage
}
import org.sparkkinesis.model.packed.PackedRecords
import org.sparkkinesis.model.{SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.retry.{Jitter, Outages, RetryPolicies, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{KinesisService, Operation, RecordPage, ServiceErrorKind, ServiceException}

/**
 * Publishes a shard with GetRecords. All steps run sequentially on the scheduler's threads and do not block.
 *
 * It never loses its position: an iterator that expired or that the service rejects is replaced by one after the last
 * delivered record. [[FetchPacer]] sets the pace.
 */
final class PollingRecordPublisher private[poll] (
    service: KinesisService,
    shard: StreamShard,
    start: StartingPosition,
    subscriber: RecordSubscriber,
    polling: PollingPublisherFactory
) extends RecordPublisher {
  import polling.{events, metrics, policies, rules, scheduler, settings}

  private val readers = polling.readers(shard)

  private val steps = new SerialExecutor(scheduler, failure => fail(polling.unexpected(failure)))
  private val pacer = new FetchPacer(settings)
  private var position = start
  private var iterator: Option[String] = None
  private var nextFetchNanos = scheduler.nanoTime
  private var granted: Option[Long] = None
  private var isBusy = false
  private var retries = 0
  private var refusedIterators = 0
  private var endsWithoutChildren = 0
  private var timer: Cancellable = Cancellable.None
  @volatile private var isOver = false

  override def request(maxBytes: Long): Unit = steps.run {
    if (!isOver) {
      if (granted.isEmpty) readers.join(shard)
      granted = Some(maxBytes)
      proceed()
    }
  }

  override def cancel(): Unit = {
    isOver = true
    steps.run {
      timer.cancel()
      polling.failing.left(shard.stream, Some(shard.shard))
      leave()
    }
  }

  private def leave(): Unit = {
    metrics.left(shard)
    ungrant()
  }

  /** Without a grant the publisher does not poll and does not use the quota of the shard. */
  private def ungrant(): Unit = if (granted.nonEmpty) {
    granted = None
    readers.leave(shard)
  }

  private def proceed(): Unit = if (!isOver && !isBusy) granted.foreach { maxBytes =>
    val wait = nextFetchNanos - scheduler.nanoTime
    isBusy = true
    if (wait > 0)
      timer = scheduler.schedule(wait.nanos)(steps.run {
        isBusy = false
        proceed()
      })
    else
      iterator match {
        case Some(current) => fetch(current, maxBytes)
        case None => renewIterator()
      }
  }

  private def renewIterator(): Unit = {
    events.emit(IteratorRequested(shard, position))
    call(service.getShardIterator(shard.ref, shard.shard, position), policies(Operation.GetShardIterator)) { fresh =>
      // LATEST is resolved by the first iterator only. A later one must not skip the records that arrived in between.
      if (position == StartingPosition.Latest) position = StartingPosition.AtTimestamp(scheduler.currentMillis)
      iterator = Some(fresh)
      proceed()
    }
  }

  private def fetch(current: String, maxBytes: Long): Unit = {
    val startedNanos = scheduler.nanoTime
    val startedMillis = scheduler.currentMillis
    metrics.getRecordsCalls.increment()
    call(service.getRecords(shard.ref, current, pacer.limit(maxBytes)), policies(Operation.GetRecords)) { page =>
      val bytes = PackedRecords.sizeOf(page.records)
      nextFetchNanos = startedNanos + pacer.pause(
        page.records.length,
        bytes,
        page.millisBehindLatest,
        readers.count(shard)
      ).toNanos
      metrics.polled(shard, pacer.slowdownFactor)
      refusedIterators = 0
      deliver(page, startedMillis)
    }
  }

  /** Delivers a response that the service sent after a time, in epoch milliseconds. */
  private def deliver(page: RecordPage, sentMillis: Long): Unit = {
    iterator = page.nextIterator
    page.records.lastOption.foreach { record =>
      position = StartingPosition.AfterSequenceNumber(SequenceNumber.trusted(record.sequenceNumber))
    }
    val ended = page.nextIterator.isEmpty
    val isConfirmed = ended && (page.children.nonEmpty || endsWithoutChildren >= PollingRecordPublisher.EndsToAccept)
    if (ended && !isConfirmed) endsWithoutChildren += 1 else if (!ended) endsWithoutChildren = 0
    if (!ended || page.records.nonEmpty) {
      ungrant()
      subscriber.onBatch(
        if (ended) RecordBatch.atShardEnd(page.records, sentMillis)
        else RecordBatch(page.records, page.millisBehindLatest, sentMillis)
      )
    }
    if (isConfirmed && !isOver) {
      isOver = true
      leave()
      subscriber.onShardEnd(page.children)
    } else proceed()
  }

  private def call[A](made: java.util.concurrent.CompletableFuture[A], policy: RetryPolicy)(use: A => Unit): Unit = {
    made.whenComplete { (value, failure) =>
      steps.run {
        isBusy = false
        if (!isOver) {
          if (failure == null) {
            if (retries >= Outages.Notable) polling.failing.recovered(shard.stream, Some(shard.shard))
            retries = 0
            polling.failing.answered(shard.stream)
            use(value)
          } else
            Futures.unwrap(failure) match {
              case error: ServiceException => recover(error, policy)
              case other => fail(polling.unexpected(other))
            }
        }
      }
    }
    ()
  }

  private def recover(error: ServiceException, policy: RetryPolicy): Unit = {
    if (error.kind == ServiceErrorKind.Throttled) {
      events.emit(CallThrottled(shard.stream, Some(shard.shard), error.operation))
      pacer.throttled()
      metrics.polled(shard, pacer.slowdownFactor)
    }
    retries += 1
    if (iterator.isDefined && isAboutIterator(error)) {
      refusedIterators += 1
      events.emit(IteratorRenewed(shard, error.getMessage))
      iterator = None
      val tryAnother =
        if (error.kind == ServiceErrorKind.ExpiredIterator) policy.allows(refusedIterators)
        else refusedIterators <= PollingRecordPublisher.IteratorsToTry
      if (!tryAnother) fail(error)
      else {
        if (refusedIterators > 1) pause(policy, refusedIterators - 1)
        proceed()
      }
    } else if (rules.isRecoverable(error) && policy.allows(retries)) {
      events.emit(CallRetried(shard.stream, Some(shard.shard), retries, error.getMessage))
      polling.failing.failed(shard.stream, Some(shard.shard), retries, error)
      // After throttling, the pause lasts at least one period, independently of the jitter.
      val minimum = if (error.kind == ServiceErrorKind.Throttled) settings.catchUpPeriod else Duration.Zero
      pause(policy, retries, minimum)
      proceed()
    } else if (error.kind == ServiceErrorKind.ResourceNotFound) {
      isBusy = true
      polling.missing.find(service, error, shard.ref).thenAccept { found =>
        steps.run {
          isBusy = false
          if (found.kind == ServiceErrorKind.ResourceNotFound) fail(found) else if (!isOver) recover(found, policy)
        }
      }
      ()
    } else fail(error)
  }

  private def pause(policy: RetryPolicy, retry: Int, minimum: FiniteDuration = Duration.Zero): Unit =
    nextFetchNanos = scheduler.nanoTime + (minimum + policy.pause(retry, polling.random())).toNanos

  private def isAboutIterator(error: ServiceException): Boolean = error.operation == Operation.GetRecords &&
    (error.kind == ServiceErrorKind.ExpiredIterator || error.kind == ServiceErrorKind.InvalidArgument)

  private def fail(error: ServiceException): Unit = if (!isOver) {
    isOver = true
    timer.cancel()
    polling.failing.left(shard.stream, Some(shard.shard))
    leave()
    subscriber.onError(error)
  }
}

private object PollingRecordPublisher {

  /**
   * Number of consecutive new iterators that the service may reject as invalid before the request counts as wrong.
   * Expired iterators do not count; the retry policy of GetRecords limits them.
   */
  val IteratorsToTry = 3

  /**
   * The last response of a closed shard names its children. A response without children is requested again this many
   * times, because KCL found such responses to be temporary. Then the end is accepted, and the children are found with
   * ListShards.
   */
  val EndsToAccept = 3
}

/**
 * Creates polling publishers for several streams.
 *
 * @param service
 *   returns the service for the stream of a shard
 * @param random
 *   returns the jitter in `[0, 1)`
 * @param readers
 *   returns the counter of publishers that poll a shard in this JVM
 * @param listener
 *   receives the publishers' events in addition to `metrics`
 */
final class PollingPublisherFactory(
    service: StreamShard => KinesisService,
    val settings: PollingSettings,
    private[poll] val policies: RetryPolicies,
    private[poll] val rules: RetryRules,
    private[poll] val scheduler: Scheduler,
    private[poll] val metrics: ConsumerMetrics,
    private[poll] val random: () => Double = Jitter.random,
    private[poll] val readers: StreamShard => ShardReaders = {
      val alone = new ShardReaders
      _ => alone
    },
    listener: EventSink = EventSink.Discard
) extends RecordPublisherFactory {
  private[poll] val events = EventSink.all(metrics, listener)
  private[poll] val failing = new Outages(scheduler, events)
  private[poll] val missing = new MissingResources(scheduler, rules)

  override def unreachable: Set[String] = failing.unreachable
  override def outages: Seq[OngoingOutage] = failing.ongoing

  override def subscribe(
      shard: StreamShard,
      position: StartingPosition,
      subscriber: RecordSubscriber
  ): RecordPublisher =
    new PollingRecordPublisher(service(shard), shard, position, subscriber, this)

  private[poll] def unexpected(failure: Throwable): ServiceException =
    ServiceException.unexpected(Operation.GetRecords, failure)
}
