package org.sparkkinesis.consume.fanout

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler, SerialExecutor}
import org.sparkkinesis.consume.{
  MissingResource, RecordBatch, RecordPublisher, RecordPublisherFactory, RecordSubscriber
}
import org.sparkkinesis.event.{
  CallThrottled, ConsumerMetrics, EventSink, SubscriptionLost, SubscriptionOpened, SubscriptionRenewed,
  SubscriptionRequested, SubscriptionTakenOver
}
import org.sparkkinesis.model.{ChildShard, KinesisQuotas, KinesisRecord, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.retry.{Jitter, Outages, RetryPolicies, RetryRules}
import org.sparkkinesis.service.{KinesisService, Operation, ServiceErrorKind, ServiceException, ShardEvent}

/**
 * Publishes a shard by enhanced fan-out: one subscription at a time, opened again from where the last one stopped, for
 * as long as it is not cancelled. All its work is done one step at a time on the scheduler's threads; none of it blocks.
 *
 * Only an event with children, or without a continuation, ends the shard. A subscription that ends in any other way,
 * orderly (after five minutes) or not, or that falls silent, is followed by another: after an orderly end at once,
 * after a failure with jittered pauses, and never within the time in which the service refuses it.
 */
final class FanOutRecordPublisher private[fanout] (
    service: KinesisService,
    shard: StreamShard,
    consumerArn: String,
    start: StartingPosition,
    subscriber: RecordSubscriber,
    fanOut: FanOutPublisherFactory
) extends RecordPublisher
    with FanOutSubscription.Owner {
  import FanOutRecordPublisher._
  import fanOut.{events, policy, rules, scheduler, settings}

  private val steps = new SerialExecutor(scheduler, failure => fail(fanOut.unexpected(failure)))

  /** Where the next subscription begins: after everything received, whether delivered or not. */
  private var position = start
  private var lastReceived: Option[SequenceNumber] = None
  private val received = mutable.Queue.empty[RecordBatch]
  private var end: Option[Seq[ChildShard]] = None
  private var demand = 0

  /** What the last request allowed, and what the last event held; nothing is known of the first. */
  private var allowedBytes = 0L
  private var lastEventBytes = Long.MaxValue
  private var current: Option[FanOutSubscription] = None

  /** None is open and none is on its way: the first request opens one. */
  private var isIdle = true
  private var failures = 0
  private var endsWithoutChildren = 0
  private var lastAliveNanos = 0L
  private var timer: Cancellable = Cancellable.None
  private var watchdog: Cancellable = Cancellable.None
  @volatile private var isOver = false

  override def request(maxBytes: Long): Unit = steps.run {
    demand += 1
    allowedBytes = maxBytes
    deliver()
    if (isIdle) open() else askForEvents()
  }

  override def cancel(): Unit = {
    isOver = true
    steps.run(release())
  }

  override def isCurrent(subscription: FanOutSubscription): Boolean = !isOver && current.contains(subscription)

  override def subscribed(subscription: FanOutSubscription): Unit = {
    subscription.activeNanos = Some(scheduler.nanoTime)
    events.emit(SubscriptionOpened(shard))
    markAlive()
  }

  override def received(subscription: FanOutSubscription, event: ShardEvent): Unit = {
    subscription.inFlight -= 1
    subscription.hadEvent = true
    noteSuccess()
    markAlive()
    val records = notYetReceived(event.records)
    lastReceived = records.lastOption.map(record => SequenceNumber.trusted(record.sequenceNumber)).orElse(lastReceived)
    (event.continuation ++ lastReceived).maxOption.foreach(number =>
      position = StartingPosition.AfterSequenceNumber(number)
    )
    lastEventBytes = KinesisRecord.sizeOf(event.records)
    val isEnd = event.continuation.isEmpty || event.children.nonEmpty
    val now = scheduler.currentMillis
    if (!isEnd) received.enqueue(RecordBatch(records, event.millisBehindLatest, now))
    else if (records.nonEmpty) received.enqueue(RecordBatch.atShardEnd(records, now))
    if (!isEnd) endsWithoutChildren = 0
    else if (event.children.nonEmpty || endsWithoutChildren >= EndsToBelieve) {
      watchdog.cancel()
      current = None
      subscription.finish()
      end = Some(event.children)
    } else {
      endsWithoutChildren += 1
      recover(lost("an event without continuation named no children"))
    }
    deliver()
    askForEvents()
  }

  /** An orderly end tells nothing about the shard. One that came at once and without an event is a failure all the same. */
  override def completed(subscription: FanOutSubscription): Unit =
    if (subscription.hadEvent || lasted(subscription)) {
      noteSuccess()
      val activeNanos = subscription.activeNanos.fold(0L)(scheduler.nanoTime - _)
      events.emit(SubscriptionRenewed(shard, activeNanos / 1000000))
      reopen(Duration.Zero)
    } else recover(lost("the subscription ended before its first event"))

  override def failed(subscription: FanOutSubscription, error: ServiceException): Unit = {
    // One that was stalled by its own reader for longer than the client waits had been sound.
    if (lasted(subscription)) noteSuccess()
    if (error.kind == ServiceErrorKind.ResourceInUse && subscription.activeNanos.isDefined)
      events.emit(SubscriptionTakenOver(shard))
    recover(error)
  }

  private def open(): Unit = if (!isOver && end.isEmpty) {
    // Nobody asks: it would be stalled from the start, and billed.
    isIdle = demand == 0
    if (!isIdle) {
      val subscription = new FanOutSubscription(this, steps, scheduler.nanoTime)
      current = Some(subscription)
      markAlive()
      events.emit(SubscriptionRequested(shard, position))
      subscription.open(service, consumerArn, shard.shard, position)
      askForEvents()
      watch()
    }
  }

  private def deliver(): Unit = {
    while (demand > 0 && received.nonEmpty && !isOver) {
      demand -= 1
      subscriber.onBatch(received.dequeue())
    }
    if (received.isEmpty && !isOver) end.foreach { children =>
      isOver = true
      release()
      subscriber.onShardEnd(children)
    }
  }

  /** The service promises to go on after the continuation; were it to repeat records, they would be doubled here. */
  private def notYetReceived(records: IndexedSeq[KinesisRecord]): IndexedSeq[KinesisRecord] = lastReceived match {
    case Some(last) if records.headOption.exists(isUpTo(_, last)) => records.dropWhile(isUpTo(_, last))
    case _ => records
  }

  private def isUpTo(record: KinesisRecord, last: SequenceNumber): Boolean =
    SequenceNumber.compareDigits(record.sequenceNumber, last.value) <= 0

  private def askForEvents(): Unit = if (demand > 0 && !isOver) current.foreach { subscription =>
    if (subscription.inFlight == 0) markAlive()
    // One that is not asked for by `request` must have room all the same, half as large as the last one at least.
    val ahead = if (allowedBytes / 3 >= lastEventBytes / 2) settings.eventsInFlight else 1
    subscription.request(ahead - received.size)
  }

  private def recover(error: ServiceException): Unit = {
    failures += 1
    if (error.kind == ServiceErrorKind.Throttled || error.kind == ServiceErrorKind.LimitExceeded)
      events.emit(CallThrottled(shard.stream, Some(shard.shard), error.operation.name))
    if (error.kind == ServiceErrorKind.ResourceNotFound) {
      closeCurrent()
      MissingResource.find(service, error, shard.ref, consumerArn, rules).thenAccept { found =>
        steps.run(if (found.kind == ServiceErrorKind.ResourceNotFound) fail(found) else if (!isOver) recover(found))
      }
      ()
    } else if (rules.isRecoverable(error) && policy.allows(failures)) {
      events.emit(SubscriptionLost(shard, failures, error.getMessage))
      fanOut.outages.failed(shard.stream, Some(shard.shard), failures, error)
      val isTaken = error.kind == ServiceErrorKind.ResourceInUse
      val least = if (isTaken) KinesisQuotas.Lifetime.SubscriptionTakeover else CallPeriod
      reopen(least + policy.pause(failures, fanOut.random()))
    } else fail(error)
  }

  private def noteSuccess(): Unit = {
    if (failures >= Outages.Notable) fanOut.outages.recovered(shard.stream, Some(shard.shard))
    failures = 0
  }

  /** Opens the next one after `pause`, and not before the service takes it. */
  private def reopen(pause: FiniteDuration): Unit = {
    val refusedUntil = current.fold(scheduler.nanoTime) { last =>
      last.activeNanos.fold(last.openedNanos + CallPeriod.toNanos)(_ +
        KinesisQuotas.Lifetime.SubscriptionTakeover.toNanos)
    }
    closeCurrent()
    val wait = math.max(pause.toNanos, refusedUntil - scheduler.nanoTime)
    timer.cancel()
    timer = scheduler.schedule(wait.nanos)(steps.run(open()))
  }

  private def lasted(subscription: FanOutSubscription): Boolean =
    subscription.activeNanos.exists(scheduler.nanoTime - _ >= KinesisQuotas.Lifetime.SubscriptionTakeover.toNanos)

  /** Looks again whenever the present silence could have become too long; no timer is set for each event. */
  private def watch(): Unit = {
    watchdog.cancel()
    val left = lastAliveNanos + settings.silenceTimeout.toNanos - scheduler.nanoTime
    watchdog = scheduler.schedule(left.nanos)(steps.run(current.foreach(lookAfter)))
  }

  private def lookAfter(subscription: FanOutSubscription): Unit = if (!isOver) {
    // A reader that asks for nothing hears nothing.
    if (subscription.activeNanos.isDefined && subscription.inFlight == 0) markAlive()
    if (scheduler.nanoTime - lastAliveNanos < settings.silenceTimeout.toNanos) watch()
    else recover(lost(s"nothing came for ${settings.silenceTimeout.toSeconds} s"))
  }

  private def markAlive(): Unit = lastAliveNanos = scheduler.nanoTime

  private def closeCurrent(): Unit = {
    watchdog.cancel()
    current.foreach(_.cancel())
    current = None
  }

  private def release(): Unit = {
    timer.cancel()
    fanOut.outages.left(shard.stream, Some(shard.shard))
    closeCurrent()
    received.clear()
  }

  private def fail(error: ServiceException): Unit = if (!isOver) {
    isOver = true
    release()
    subscriber.onError(error)
  }
}

private object FanOutRecordPublisher {

  /** Events in a row that end a shard without naming children before it is believed; they then come from ListShards. */
  val EndsToBelieve = 3

  val CallPeriod: FiniteDuration = 1.second / KinesisQuotas.CallRate.SubscribeToShardPerConsumerAndShard.toLong

  /** Found by this side alone: the service said nothing. */
  def lost(message: String): ServiceException =
    new ServiceException(ServiceErrorKind.Network, Operation.SubscribeToShard, "SubscriptionLost", message)
}

/**
 * Makes enhanced fan-out publishers, of several streams.
 *
 * @param service
 *   the service that a stream is read through
 * @param consumerArn
 *   the registered consumer of a shard's stream
 * @param random
 *   gives the jitter, from 0 until 1
 * @param listener
 *   receives the publishers' events; `metrics` receives them in any case
 */
final class FanOutPublisherFactory(
    service: StreamShard => KinesisService,
    consumerArn: StreamShard => String,
    private[fanout] val settings: FanOutSettings,
    policies: RetryPolicies,
    private[fanout] val rules: RetryRules,
    private[fanout] val scheduler: Scheduler,
    metrics: ConsumerMetrics,
    private[fanout] val random: () => Double = Jitter.random,
    listener: EventSink = EventSink.Discard
) extends RecordPublisherFactory {
  private[fanout] val policy = policies(Operation.SubscribeToShard)
  private[fanout] val events = EventSink.all(metrics, listener)
  private[fanout] val outages = new Outages(scheduler, events)

  override def subscribe(
      shard: StreamShard,
      position: StartingPosition,
      subscriber: RecordSubscriber
  ): RecordPublisher =
    new FanOutRecordPublisher(service(shard), shard, consumerArn(shard), position, subscriber, this)

  private[fanout] def unexpected(failure: Throwable): ServiceException = new ServiceException(
    ServiceErrorKind.Client,
    Operation.SubscribeToShard,
    failure.getClass.getName,
    String.valueOf(failure.getMessage),
    None,
    failure
  )
}
