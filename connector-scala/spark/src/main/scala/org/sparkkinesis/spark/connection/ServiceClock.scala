package org.sparkkinesis.spark.connection

import org.sparkkinesis.concurrent.Clock

/**
 * The service's clock, between two bounds: its answers tell whole seconds, and arrive some time later. Where no answer told the time,
 * it is this process's own. All times are epoch milliseconds. Thread-safe.
 */
final class ServiceClock(own: Clock) {
  import ServiceClock.Resolution

  /** How far the service's clock is ahead of this process's, at least and at most; negative when it is behind. */
  private var ahead: Option[(Long, Long)] = None

  /**
   * Takes note of an answer that has just come.
   *
   * @param answeredMillis
   *   what the answer says of its time
   * @param askedMillis
   *   when it was asked for, on this process's clock
   */
  def heard(answeredMillis: Long, askedMillis: Long): Unit = synchronized {
    val now = own.currentMillis
    val least = answeredMillis - now
    val most = answeredMillis + Resolution - askedMillis
    // A clock that was set in between contradicts what was heard before.
    ahead = ahead.map { case (l, m) => (math.max(l, least), math.min(m, most)) }.filter { case (l, m) => l <= m }
      .orElse(Some((least, most)))
  }

  /** No later than the service's present time. */
  def atLeast: Long = ofOwn(own.currentMillis)

  /** No earlier than the service's present time. */
  def atMost: Long = own.currentMillis + synchronized(ahead.fold(0L)(_._2))

  /** No later than what the service's clock showed at a time of this process's clock. */
  def ofOwn(millis: Long): Long = millis + synchronized(ahead.fold(0L)(_._1))
}

private object ServiceClock {

  /** HTTP dates have whole seconds. */
  val Resolution = 1000L
}
