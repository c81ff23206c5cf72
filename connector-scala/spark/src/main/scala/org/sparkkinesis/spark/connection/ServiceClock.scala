package org.sparkkinesis.spark.connection

import org.sparkkinesis.concurrent.Clock

/**
 * The service's clock, between two bounds: its answers tell whole seconds, and arrive some time later. Where no answer told the time,
 * it is this process's own, which else is not looked at: it may be wrong, and may be set while the process runs. All times are epoch
 * milliseconds. Thread-safe.
 */
final class ServiceClock(own: Clock) {
  import ServiceClock._

  /** How far the service's clock is ahead of this process's running time, at least and at most. */
  private var ahead: Option[(Long, Long)] = None

  /**
   * Takes note of an answer that has just come.
   *
   * @param answeredMillis
   *   what the answer says of its time
   * @param askedNanos
   *   when it was asked for, in nanoseconds of this process's clock
   */
  def heard(answeredMillis: Long, askedNanos: Long): Unit = synchronized {
    // Whole milliseconds of the running time are up to one too early.
    val least = answeredMillis - millis(own.nanoTime) - 1
    val most = answeredMillis + Resolution - millis(askedNanos)
    // An answer that contradicts the ones before takes their place.
    ahead = ahead.map { case (l, m) => (math.max(l, least), math.min(m, most)) }.filter { case (l, m) => l <= m }
      .orElse(Some((least, most)))
  }

  /** No later than the service's present time. */
  def atLeast: Long = now(_._1, 0)

  /** No earlier than the service's present time. */
  def atMost: Long = now(_._2, 1)

  /** No later than what the service's clock showed at a time of this process's clock, as that goes now. */
  def ofOwn(millis: Long): Long = millis - own.currentMillis + atLeast

  private def now(bound: ((Long, Long)) => Long, rounding: Long): Long =
    synchronized(ahead).fold(own.currentMillis)(bound(_) + millis(own.nanoTime) + rounding)
}

private object ServiceClock {

  /** HTTP dates have whole seconds. */
  val Resolution = 1000L

  def millis(nanos: Long): Long = Math.floorDiv(nanos, 1000000L)
}
