package org.sparkkinesis.spark.connection

import org.sparkkinesis.concurrent.Clock

/**
 * Estimates the service's clock as a range between two bounds: an answer contains whole seconds and arrives with a
 * delay. Without an answer, the clock is this process's own; it is not used otherwise, because it may be wrong or be
 * changed. All times are epoch milliseconds. Thread-safe.
 */
final class ServiceClock(own: Clock) {
  import ServiceClock._

  /** Minimum and maximum difference between the service's clock and this process's running time. */
  private var ahead: Option[(Long, Long)] = None

  /** Minimum difference between the service's clock and this process's clock. */
  private var aheadOfOwn = 0L

  /**
   * Records an answer that has just arrived.
   *
   * @param answeredMillis
   *   the time in the answer
   * @param askedNanos
   *   the time of the request, in nanoseconds of this process's clock
   */
  def heard(answeredMillis: Long, askedNanos: Long): Unit = synchronized {
    // Rounding the running time to milliseconds makes it up to one millisecond too early.
    val least = answeredMillis - millis(own.nanoTime) - 1
    val most = answeredMillis + Resolution - millis(askedNanos)
    // An answer that contradicts earlier answers replaces them.
    val before = ahead.map { case (l, m) => (math.max(l, least), math.min(m, most)) }.filter { case (l, m) => l <= m }
    val difference = answeredMillis - own.currentMillis
    aheadOfOwn = if (before.isEmpty) difference else math.max(aheadOfOwn, difference)
    ahead = before.orElse(Some((least, most)))
  }

  /** Returns a time that is not later than the service's current time. */
  def atLeast: Long = now(_._1, 0)

  /** Returns a time that is not earlier than the service's current time. */
  def atMost: Long = now(_._2, 1)

  /**
   * Converts a time of this process's clock to a time that is not later than the service's time at that moment, also if
   * the machine was suspended since: the clocks moved then, and the running time did not.
   */
  def ofOwn(millis: Long): Long = synchronized(millis + aheadOfOwn)

  private def now(bound: ((Long, Long)) => Long, rounding: Long): Long =
    synchronized(ahead).fold(own.currentMillis)(bound(_) + millis(own.nanoTime) + rounding)
}

private object ServiceClock {

  /** HTTP dates have a precision of one second. */
  val Resolution = 1000L

  def millis(nanos: Long): Long = Math.floorDiv(nanos, 1000000L)
}
