package org.sparkkinesis.event.log

import scala.collection.mutable
import scala.concurrent.duration._

/**
 * Limits warnings to one per key and period. Thread-safe.
 *
 * @param nanoTime
 *   a monotonic clock in nanoseconds
 */
final class WarningLimit(period: FiniteDuration = WarningLimit.Period, nanoTime: () => Long = () => System.nanoTime()) {
  final private class Entry(val untilNanos: Long) {
    var suppressed = 0L
  }

  /** The entries in the order in which their periods end. */
  private val entries = mutable.LinkedHashMap.empty[Any, Entry]

  /**
   * Returns the number of warnings suppressed since the last one of this key, or `None` if this warning must be
   * suppressed.
   */
  def admit(key: Any): Option[Long] = synchronized {
    val now = nanoTime()
    val last = entries.get(key)
    last.filter(_.untilNanos - now > 0) match {
      case Some(running) =>
        running.suppressed += 1
        None
      case None =>
        entries.remove(key)
        removeExpired(now)
        entries(key) = new Entry(now + period.toNanos)
        Some(last.fold(0L)(_.suppressed))
    }
  }

  private[log] def size: Int = synchronized(entries.size)

  /** Removes entries whose period has ended, so that they do not accumulate in a long-lived JVM. */
  private def removeExpired(now: Long): Unit =
    while (entries.size >= WarningLimit.MaxKeys && entries.head._2.untilNanos - now <= 0) entries -= entries.head._1
}

object WarningLimit {
  val Period: FiniteDuration = 30.seconds
  private val MaxKeys = 1000

  /** Shared by all logs of this JVM, because each task creates a log. */
  private[log] val ofJvm = new WarningLimit
}
