package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Futures, Scheduler, SerialExecutor}
import org.sparkkinesis.consume.{
  MissingResource, RecordBatch, RecordPublisher, RecordPublisherFactory, RecordSubscriber
}
import org.sparkkinesis.event.{
  CallRetried, CallThrottled, ConsumerMetrics, EventSink, IteratorRenewed, IteratorRequested
}
import org.sparkkinesis.model.{KinesisRecord, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.retry.{Jitter, Outages, RetryPolicies, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{KinesisService, Operation, RecordPage, ServiceErrorKind, ServiceException}

/**
 * Publishes a shard by GetRecords. All its work is done one step at a time on the scheduler's threads, none of it blocks.
 *
 * A position is never lost: an iterator that expired, or that the service does not accept any more, is replaced by a
 * new one after the last record delivered. Paced by [[FetchPacer]].
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
      polling.outages.left(shard.stream, Some(shard.shard))
      ungrant()
    }
  }

  /** Without a grant it does not poll, and leaves the shard's quota to others. */
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
      // "Latest" is resolved once, by the first iterator: a later one must not skip what came in between.
      if (position == StartingPosition.Latest) position = StartingPosition.AtTimestamp(scheduler.currentMillis)
      iterator = Some(fresh)
      proceed()
    }
  }

  private def fetch(current: String, maxBytes: Long): Unit = {
    val startedNanos = scheduler.nanoTime
    metrics.getRecordsCalls.increment()
    call(service.getRecords(shard.ref, current, pacer.limit(maxBytes)), policies(Operation.GetRecords)) { page =>
      val bytes = KinesisRecord.sizeOf(page.records)
      nextFetchNanos = startedNanos + pacer.pause(
        page.records.length,
        bytes,
        page.millisBehindLatest,
        readers.count(shard)
      ).toNanos
      refusedIterators = 0
      deliver(page)
    }
  }

  private def deliver(page: RecordPage): Unit = {
    iterator = page.nextIterator
    page.records.lastOption.foreach { record =>
      position = StartingPosition.AfterSequenceNumber(SequenceNumber.trusted(record.sequenceNumber))
    }
    val ended = page.nextIterator.isEmpty
    val surely = ended && (page.children.nonEmpty || endsWithoutChildren >= PollingRecordPublisher.EndsToBelieve)
    if (ended && !surely) endsWithoutChildren += 1 else if (!ended) endsWithoutChildren = 0
    if (!ended || page.records.nonEmpty) {
      ungrant()
      val now = scheduler.currentMillis
      subscriber.onBatch(
        if (ended) RecordBatch.atShardEnd(page.records, now)
        else RecordBatch(page.records, page.millisBehindLatest, now)
      )
    }
    if (surely && !isOver) {
      isOver = true
      ungrant()
      subscriber.onShardEnd(page.children)
    } else proceed()
  }

  private def call[A](made: java.util.concurrent.CompletableFuture[A], policy: RetryPolicy)(use: A => Unit): Unit = {
    made.whenComplete { (value, failure) =>
      steps.run {
        isBusy = false
        if (!isOver) {
          if (failure == null) {
            if (retries >= Outages.Notable) polling.outages.recovered(shard.stream, Some(shard.shard))
            retries = 0
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
      events.emit(CallThrottled(shard.stream, Some(shard.shard), error.operation.name))
      pacer.throttled()
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
      polling.outages.failed(shard.stream, Some(shard.shard), retries, error)
      // A throttled shard is out of calls for this period at least, whatever the jitter says.
      val least = if (error.kind == ServiceErrorKind.Throttled) settings.catchUpPeriod else Duration.Zero
      pause(policy, retries, least)
      proceed()
    } else if (error.kind == ServiceErrorKind.ResourceNotFound) {
      isBusy = true
      MissingResource.find(service, error, shard.ref, rules).thenAccept { found =>
        steps.run {
          isBusy = false
          if (found.kind == ServiceErrorKind.ResourceNotFound) fail(found) else if (!isOver) recover(found, policy)
        }
      }
      ()
    } else fail(error)
  }

  private def pause(policy: RetryPolicy, retry: Int, least: FiniteDuration = Duration.Zero): Unit =
    nextFetchNanos = scheduler.nanoTime + (least + policy.pause(retry, polling.random())).toNanos

  private def isAboutIterator(error: ServiceException): Boolean = error.operation == Operation.GetRecords &&
    (error.kind == ServiceErrorKind.ExpiredIterator || error.kind == ServiceErrorKind.InvalidArgument)

  private def fail(error: ServiceException): Unit = if (!isOver) {
    isOver = true
    timer.cancel()
    polling.outages.left(shard.stream, Some(shard.shard))
    ungrant()
    subscriber.onError(error)
  }
}

private object PollingRecordPublisher {

  /**
   * New iterators in a row that are refused as invalid, before the request is taken to be wrong. One that expired is
   * another matter: nothing was wrong with it, and the policy for GetRecords says how often it is renewed.
   */
  val IteratorsToTry = 3

  /**
   * A closed shard's last answer names children. One that does not is asked again this often (KCL found such answers
   * to be passing states); then it is believed, and the children have to come from ListShards.
   */
  val EndsToBelieve = 3
}

/**
 * Makes polling publishers, of several streams.
 *
 * @param service
 *   the service that a stream is read through
 * @param random
 *   gives the jitter, from 0 until 1
 * @param readers
 *   who else polls a shard from this JVM
 * @param listener
 *   receives the publishers' events; `metrics` receives them in any case
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
  private[poll] val outages = new Outages(scheduler, events)

  override def subscribe(
      shard: StreamShard,
      position: StartingPosition,
      subscriber: RecordSubscriber
  ): RecordPublisher =
    new PollingRecordPublisher(service(shard), shard, position, subscriber, this)

  private[poll] def unexpected(failure: Throwable): ServiceException =
    new ServiceException(
      ServiceErrorKind.Client,
      Operation.GetRecords,
      failure.getClass.getName,
      String.valueOf(failure.getMessage),
      None,
      failure
    )
}
