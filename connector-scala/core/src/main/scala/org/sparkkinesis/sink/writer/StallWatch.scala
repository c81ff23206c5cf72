package org.sparkkinesis.sink.writer

import scala.concurrent.duration._

/**
 * Notices that a destination accepts nothing although requests are sent. Guarded by the writer's lock.
 *
 * @param timeout
 *   time without progress after which the destination counts as stalled; may be infinite
 */
final private[sink] class StallWatch(timeout: Duration, alarm: Alarm) {
  private var since = Option.empty[Long]

  /** The time from which the destination has accepted and throttled nothing although requests were sent. */
  def silentSince: Option[Long] = since

  /** A request was started. */
  def started(now: Long): Unit = if (since.isEmpty) {
    since = Some(now)
    setAlarm()
  }

  /** A request has ended. `isIdle` says whether no other one is in flight. */
  def settled(hadProgress: Boolean, isIdle: Boolean, now: Long): Unit = if (hadProgress) {
    since = if (isIdle) None else Some(now)
    setAlarm()
  }

  /** The time without progress in nanoseconds, once when it is too long. */
  def stalled(now: Long): Option[Long] = {
    val tooLong = since.filter(_ => timeout.isFinite).map(now - _).filter(_ >= timeout.toNanos)
    if (tooLong.nonEmpty) since = None
    tooLong
  }

  def setAlarm(): Unit = if (timeout.isFinite) since.foreach(start => alarm.setBy(start + timeout.toNanos))
}
