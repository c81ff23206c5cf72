package org.sparkkinesis.event.log

import scala.collection.mutable
import scala.concurrent.duration._

/**
 * Limits warnings to one for each key and period. Thread-safe.
 *
 * @param nanoTime
 *   a monotonic clock
 */
final class WarningLimit(period: FiniteDuration = WarningLimit.Period, nanoTime: () => Long = () => System.nanoTime()) {
  final private class Entry(val untilNanos: Long) {
    var suppressed = 0L
  }

  /** In the order in which their periods end. */
  private val entries = mutable.LinkedHashMap.empty[Any, Entry]

  /** How many warnings were suppressed since the last one of this key; empty if this one must be suppressed as well. */
  def admit(key: Any): Option[Long] = synchronized {
    val now = nanoTime()
    val last = entries.get(key)
    last.filter(_.untilNanos - now > 0) match {
      case Some(running) =>
        running.suppressed += 1
        None
      case None =>
        entries.remove(key)
        forgetOld(now)
        entries(key) = new Entry(now + period.toNanos)
        Some(last.fold(0L)(_.suppressed))
    }
  }

  private[log] def size: Int = synchronized(entries.size)

  /** Entries whose period has ended stay only for their count; a long-lived JVM must not gather them without bound. */
  private def forgetOld(now: Long): Unit =
    while (entries.size >= WarningLimit.MostKeys && entries.head._2.untilNanos - now <= 0) entries -= entries.head._1
}

object WarningLimit {
  val Period: FiniteDuration = 30.seconds
  private val MostKeys = 1000

  /** Shared by the logs of this JVM: tasks come and go, and each would begin to count anew. */
  private[log] val ofJvm = new WarningLimit
}
