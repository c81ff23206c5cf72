package org.sparkkinesis.consume.fanout

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, SerialExecutor}
import org.sparkkinesis.consume.{RecordBatch, RecordPublisher, RecordSubscriber}
import org.sparkkinesis.event.{
  CallThrottled, SubscriptionLost, SubscriptionOpened, SubscriptionRenewed, SubscriptionRequested, SubscriptionTakenOver
}
import org.sparkkinesis.model.packed.PackedRecords
import org.sparkkinesis.model.{ChildShard, KinesisQuotas, KinesisRecord, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.retry.Outages
import org.sparkkinesis.service.{KinesisService, Operation, ServiceErrorKind, ServiceException, SubscribeToShardEvent}

/**
 * Publishes a shard with enhanced fan-out. It has one subscription at a time and opens the next one at the position
 * where the last one stopped. All steps run sequentially on the scheduler's threads and do not block.
 *
 * Only an event with children, or without a continuation, ends the shard. A subscription that completes (after five
 * minutes), fails or is silent is replaced: after completion immediately, after a failure with jittered backoff, and
 * never within the period in which the service refuses a new subscription.
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

  /** Start of the next subscription: after all received records, whether delivered or not. */
  private var position = start
  private var lastReceived: Option[SequenceNumber] = None
  private val received = mutable.Queue.empty[RecordBatch]
  private var end: Option[Seq[ChildShard]] = None
  private var demand = 0

  /** Size allowed by the last request, and size of the last event, which is not known before the first one. */
  private var allowedBytes = 0L
  private var lastEventBytes = Long.MaxValue
  private var current: Option[FanOutSubscription] = None

  /** No subscription is open or pending. The next request opens one. */
  private var isIdle = true
  private var failures = 0
  private var endsWithoutChildren = 0

  /** The number of takeovers since a subscription completed normally. */
  private var takeovers = 0
  private val times = new EventTimes(scheduler)
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
    times.accepted()
  }

  override def received(subscription: FanOutSubscription, event: SubscribeToShardEvent): Unit = {
    subscription.inFlight -= 1
    subscription.hadEvent = true
    resetFailures()
    fanOut.failing.answered(shard.stream)
    val sentMillis = times.received()
    val records = notYetReceived(event.records)
    lastReceived = records.lastOption.map(record => SequenceNumber.trusted(record.sequenceNumber)).orElse(lastReceived)
    (event.continuation ++ lastReceived).maxOption.foreach(number =>
      position = StartingPosition.AfterSequenceNumber(number)
    )
    lastEventBytes = PackedRecords.sizeOf(event.records)
    val isEnd = event.continuation.isEmpty || event.children.nonEmpty
    val isRepetition = records.isEmpty && event.records.nonEmpty
    if (!isEnd) received.enqueue(RecordBatch(records, event.millisBehindLatest, sentMillis, isRepetition))
    else if (records.nonEmpty) received.enqueue(RecordBatch.atShardEnd(records, sentMillis))
    if (!isEnd) endsWithoutChildren = 0
    else if (event.children.nonEmpty || endsWithoutChildren >= EndsToAccept) {
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

  /**
   * A completed subscription does not mean that the shard ended. One that completes immediately and without an event
   * counts as a failure.
   */
  override def completed(subscription: FanOutSubscription): Unit =
    if (subscription.hadEvent || lasted(subscription)) {
      resetFailures()
      takeovers = 0
      val activeNanos = subscription.activeNanos.fold(0L)(scheduler.nanoTime - _)
      events.emit(SubscriptionRenewed(shard, activeNanos / 1000000))
      reopen(Duration.Zero)
    } else recover(lost("the subscription ended before its first event"))

  override def failed(subscription: FanOutSubscription, error: ServiceException): Unit = {
    // If the client closed the subscription because its reader had paused for too long, the subscription itself was
    // sound.
    if (lasted(subscription)) resetFailures()
    if (error.kind == ServiceErrorKind.ResourceInUse && subscription.activeNanos.isDefined) {
      takeovers += 1
      events.emit(SubscriptionTakenOver(shard, takeovers))
    }
    recover(error)
  }

  private def open(): Unit = if (!isOver && end.isEmpty) {
    // Without demand the subscription would be idle and billed.
    isIdle = demand == 0
    if (!isIdle) {
      val subscription = new FanOutSubscription(this, steps, scheduler.nanoTime)
      current = Some(subscription)
      times.opened()
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

  /** The service continues after the continuation. This filter prevents duplicates if it repeats records. */
  private def notYetReceived(records: IndexedSeq[KinesisRecord]): IndexedSeq[KinesisRecord] = lastReceived match {
    case Some(last) if records.headOption.exists(isUpTo(_, last)) => records.dropWhile(isUpTo(_, last))
    case _ => records
  }

  private def isUpTo(record: KinesisRecord, last: SequenceNumber): Boolean =
    SequenceNumber.compareDigits(record.sequenceNumber, last.value) <= 0

  private def askForEvents(): Unit = if (demand > 0 && !isOver) current.foreach { subscription =>
    if (subscription.inFlight == 0) times.awaited()
    // An additional event is requested only if the allowed size leaves room for half of the last event.
    val ahead = if (allowedBytes / 3 >= lastEventBytes / 2) settings.eventsInFlight else 1
    subscription.request(ahead - received.size)
  }

  private def recover(error: ServiceException): Unit = {
    failures += 1
    if (error.kind == ServiceErrorKind.Throttled || error.kind == ServiceErrorKind.LimitExceeded)
      events.emit(CallThrottled(shard.stream, Some(shard.shard), error.operation))
    if (error.kind == ServiceErrorKind.ResourceNotFound) {
      closeCurrent()
      fanOut.missing.find(service, error, shard.ref, consumerArn).thenAccept { found =>
        steps.run(if (found.kind == ServiceErrorKind.ResourceNotFound) fail(found) else if (!isOver) recover(found))
      }
      ()
    } else if (rules.isRecoverable(error) && policy.allows(failures)) {
      events.emit(SubscriptionLost(shard, failures, error.getMessage))
      fanOut.failing.failed(shard.stream, Some(shard.shard), failures, error)
      val isTaken = error.kind == ServiceErrorKind.ResourceInUse
      val minimum = if (isTaken) KinesisQuotas.Lifetime.SubscriptionTakeover else CallPeriod
      reopen(minimum + policy.pause(failures, fanOut.random()))
    } else fail(error)
  }

  private def resetFailures(): Unit = {
    if (failures >= Outages.Notable) fanOut.failing.recovered(shard.stream, Some(shard.shard))
    failures = 0
  }

  /** Opens the next subscription after `pause`, and not before the service accepts it. */
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

  /**
   * Schedules the next check for the time when the current silence would exceed the timeout. Events do not set timers.
   */
  private def watch(): Unit = {
    watchdog.cancel()
    val left = times.awaitedNanos + settings.silenceTimeout.toNanos - scheduler.nanoTime
    watchdog = scheduler.schedule(left.nanos)(steps.run(current.foreach(checkSilence)))
  }

  private def checkSilence(subscription: FanOutSubscription): Unit = if (!isOver) {
    // There is no demand, so silence is expected.
    if (subscription.activeNanos.isDefined && subscription.inFlight == 0) times.awaited()
    if (scheduler.nanoTime - times.awaitedNanos < settings.silenceTimeout.toNanos) watch()
    else recover(lost(s"no event was received for ${settings.silenceTimeout.toSeconds} s"))
  }

  private def closeCurrent(): Unit = {
    watchdog.cancel()
    current.foreach(_.cancel())
    current = None
  }

  private def release(): Unit = {
    timer.cancel()
    fanOut.failing.left(shard.stream, Some(shard.shard))
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

  /**
   * Number of consecutive events that end a shard without naming children before the end is accepted. The children are
   * then found with ListShards.
   */
  val EndsToAccept = 3

  val CallPeriod: FiniteDuration = 1.second / KinesisQuotas.CallRate.SubscribeToShardPerConsumerAndShard.toLong

  /** An error that this side detected; the service reported none. */
  def lost(message: String): ServiceException =
    new ServiceException(ServiceErrorKind.Network, Operation.SubscribeToShard, "SubscriptionLost", message)
}
