package org.sparkkinesis.concurrent

import scala.concurrent.duration._

/**
 * Spaces the calls of one key, so that callers which arrive at the same time do not exceed a quota together. It only
 * says how long to wait, and remembers a key no longer than its calls wait. Thread-safe.
 *
 * @param period
 *   minimum time between the starts of two calls of one key
 */
final class CallPacer[K](period: FiniteDuration) {

  /** The times before which the next call of a key must not start. */
  private var next = Map.empty[K, Long]

  /** Returns the time after which the caller may start its call, which nobody else uses. */
  def reserve(key: K, nowNanos: Long): FiniteDuration = synchronized {
    next = next.filter { case (_, at) => at - nowNanos > 0 }
    val start = next.getOrElse(key, nowNanos)
    next += key -> (start + period.toNanos)
    (start - nowNanos).nanos
  }

  /** Number of keys that are remembered. */
  private[concurrent] def size: Int = synchronized(next.size)
}
