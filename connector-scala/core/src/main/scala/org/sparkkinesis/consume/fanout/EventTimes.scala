package org.sparkkinesis.consume.fanout

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.model.KinesisQuotas

/**
 * Finds when the service sent the events of a subscription, which have no time. An event may wait in the buffers of the
 * connection until it is requested, or while this process stands still. So it says something about the present only if
 * it came a while after it was requested and after the event before it: then the buffers were empty.
 */
final private[fanout] class EventTimes(scheduler: Scheduler) {
  import EventTimes._

  private var sentMillis = 0L
  private var sinceNanos = 0L
  private var sinceMillis = 0L

  /** Whether the buffers were empty when the last event came, unless this process stood still. */
  private var wasEmpty = false

  /** Whether the next event may be in a buffer already. */
  private var mayBeBuffered = false

  /** The time since which an event is awaited, on the scheduler's monotonic clock. */
  def awaitedNanos: Long = sinceNanos

  /** Records that a subscription is requested. The service sends its events after that. */
  def opened(): Unit = {
    await()
    sentMillis = sinceMillis
    mayBeBuffered = false
    wasEmpty = true
  }

  /** Records that the service has accepted the subscription. */
  def accepted(): Unit = await()

  /** Records that an event is awaited from now on, and was not before. */
  def awaited(): Unit = {
    mayBeBuffered ||= waited >= Buffered
    await()
  }

  /**
   * Records that an event was received, and that the next one is awaited. Returns a lower limit of the time when the
   * service sent it, in epoch milliseconds. If the process has stood still for less than [[Longest]], the limit may be
   * too late by that time.
   */
  def received(): Long = {
    val awaitedMillis = sinceMillis
    val time = waited
    await()
    // The clock may have been set forward meanwhile.
    val isLong = time > Longest || sinceMillis - awaitedMillis > Longest.toMillis
    if (time < Buffered || mayBeBuffered) wasEmpty = false
    else {
      if (!isLong) sentMillis = sinceMillis
      else if (wasEmpty) sentMillis = awaitedMillis
      wasEmpty = true
    }
    mayBeBuffered = false
    sentMillis
  }

  private def waited: FiniteDuration = (scheduler.nanoTime - sinceNanos).nanos

  private def await(): Unit = {
    sinceNanos = scheduler.nanoTime
    sinceMillis = scheduler.currentMillis
  }
}

private[fanout] object EventTimes {

  /** The minimum time for which an event was awaited that did not wait in a buffer: more than a read from it takes. */
  val Buffered: FiniteDuration = 1.second

  /**
   * The maximum time for which an event is awaited while the process runs: twice the interval of the events without
   * records. After a longer one, the process may have stood still.
   */
  val Longest: FiniteDuration = KinesisQuotas.Lifetime.IdleSubscriptionEvent * 2
}
