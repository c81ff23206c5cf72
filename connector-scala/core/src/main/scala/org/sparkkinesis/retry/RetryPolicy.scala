package org.sparkkinesis.retry

import scala.concurrent.duration._

/**
 * Retry limit and backoff of a failed call: full jitter with an exponentially growing upper bound.
 *
 * @param maxRetries
 *   maximum number of retries; `None` for no limit
 * @param base
 *   upper bound of the first pause
 * @param max
 *   limit of the upper bound
 * @param exponent
 *   factor by which the upper bound grows with each retry
 */
final case class RetryPolicy(maxRetries: Option[Int], base: FiniteDuration, max: FiniteDuration, exponent: Double) {
  require(maxRetries.forall(_ >= 0), s"maxRetries must not be negative, was $maxRetries")
  require(base > Duration.Zero && max >= base, s"backoff needs 0 < base <= max, was base $base and max $max")
  require(exponent >= 1, s"backoff exponent must be at least 1, was $exponent")

  def allows(retry: Int): Boolean = maxRetries.forall(retry <= _)

  /** Upper bound of the pause before a retry, counted from 1. */
  def bound(retry: Int): FiniteDuration =
    math.min(max.toNanos.toDouble, base.toNanos * math.pow(exponent, retry - 1.0)).toLong.nanos

  /** @param random number in `[0, 1)` */
  def pause(retry: Int, random: Double): FiniteDuration = (bound(retry).toNanos * random).toLong.nanos

  /**
   * Returns a pause in the upper half of the bound, for repeated work that must neither run without pause nor run in
   * all processes at once.
   *
   * @param random
   *   number in `[0, 1)`
   */
  def longPause(retry: Int, random: Double): FiniteDuration = (bound(retry).toNanos * (0.5 + random / 2)).toLong.nanos
}
