package org.sparkkinesis.consume.fanout

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.model.KinesisQuotas

/**
 * Finds when the service sent the events of a subscription, which have no time. An event may wait in the buffers of the
 * connection until it is requested, or while this process stands still. One that comes right after it was awaited may
 * have waited, so it says nothing about the time since the last one that cannot have waited.
 */
final private[fanout] class EventTimes(scheduler: Scheduler) {
  import EventTimes._

  private var sentMillis = 0L
  private var sinceNanos = 0L
  private var sinceMillis = 0L

  /** The time since which an event is awaited, on the scheduler's monotonic clock. */
  def awaitedNanos: Long = sinceNanos

  /** Records that a subscription is requested. The service sends its events after that. */
  def opened(): Unit = {
    awaited()
    sentMillis = sinceMillis
  }

  /** Records that an event is awaited from now on. */
  def awaited(): Unit = {
    sinceNanos = scheduler.nanoTime
    sinceMillis = scheduler.currentMillis
  }

  /**
   * Records that an event was received, and that the next one is awaited. Returns a time, in epoch milliseconds, that
   * is not more than [[Longest]] later than when the service sent it.
   */
  def received(): Long = {
    val awaitedMillis = sinceMillis
    val waited = (scheduler.nanoTime - sinceNanos).nanos
    awaited()
    if (waited > Longest) sentMillis = awaitedMillis
    else if (waited >= Buffered) sentMillis = sinceMillis
    sentMillis
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
