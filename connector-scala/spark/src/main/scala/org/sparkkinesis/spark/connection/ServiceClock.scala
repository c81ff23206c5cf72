package org.sparkkinesis.spark.connection

import org.sparkkinesis.concurrent.Clock

/**
 * Estimates the service's clock by a lower and an upper bound, from the `Date` headers of its responses. These have
 * whole seconds and arrive after some time. Until the first such response, the estimate is this process's own clock.
 * After that it does not depend on that clock, which may be wrong or be set while the process runs. All times are
 * epoch milliseconds. Thread-safe.
 */
final class ServiceClock(own: Clock) {
  import ServiceClock._

  /** Lower and upper bound of the service's time minus this process's running time, in milliseconds. */
  private var ahead: Option[(Long, Long)] = None

  /**
   * Records a response that has just arrived.
   *
   * @param answeredMillis
   *   the time in the response
   * @param askedNanos
   *   the time of the request, in nanoseconds of this process's running time
   */
  def heard(answeredMillis: Long, askedNanos: Long): Unit = synchronized {
    // Rounding the running time to whole milliseconds loses up to one millisecond.
    val least = answeredMillis - millis(own.nanoTime) - 1
    val most = answeredMillis + Resolution - millis(askedNanos)
    // A response that contradicts the earlier ones replaces them.
    ahead = ahead.map { case (l, m) => (math.max(l, least), math.min(m, most)) }.filter { case (l, m) => l <= m }
      .orElse(Some((least, most)))
  }

  /** Returns a time that is not later than the service's current time. */
  def atLeast: Long = now(_._1, 0)

  /** Returns a time that is not earlier than the service's current time. */
  def atMost: Long = now(_._2, 1)

  /** Converts a time of this process's clock to a time that is not later than the service's clock showed then. */
  def ofOwn(millis: Long): Long = millis - own.currentMillis + atLeast

  private def now(bound: ((Long, Long)) => Long, rounding: Long): Long =
    synchronized(ahead).fold(own.currentMillis)(bound(_) + millis(own.nanoTime) + rounding)
}

private object ServiceClock {

  /** The resolution of HTTP dates in milliseconds. */
  val Resolution = 1000L

  def millis(nanos: Long): Long = Math.floorDiv(nanos, 1000000L)
}
