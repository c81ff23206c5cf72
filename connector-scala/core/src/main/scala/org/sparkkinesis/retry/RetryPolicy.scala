package org.sparkkinesis.retry

import scala.concurrent.duration._

/**
 * Says how often and after which pause a failed call is made again: full jitter over an exponentially growing bound.
 *
 * @param maxRetries
 *   calls after the first one; `None` for no end
 * @param base
 *   the bound of the first pause
 * @param max
 *   what the bound grows to
 * @param exponent
 *   by what it grows each time
 */
final case class RetryPolicy(maxRetries: Option[Int], base: FiniteDuration, max: FiniteDuration, exponent: Double) {
  require(maxRetries.forall(_ >= 0), s"maxRetries must not be negative, was $maxRetries")
  require(base > Duration.Zero && max >= base, s"backoff needs 0 < base <= max, was base $base and max $max")
  require(exponent >= 1, s"backoff exponent must be at least 1, was $exponent")

  def allows(retry: Int): Boolean = maxRetries.forall(retry <= _)

  /** The longest pause before the `retry`-th retry, counted from 1. */
  def bound(retry: Int): FiniteDuration =
    math.min(max.toNanos.toDouble, base.toNanos * math.pow(exponent, retry - 1.0)).toLong.nanos

  /** @param random from 0 until 1 */
  def pause(retry: Int, random: Double): FiniteDuration = (bound(retry).toNanos * random).toLong.nanos

  /**
   * A pause in the upper half of the bound, for what must neither spin nor come back all at once.
   *
   * @param random
   *   from 0 until 1
   */
  def longPause(retry: Int, random: Double): FiniteDuration = (bound(retry).toNanos * (0.5 + random / 2)).toLong.nanos
}
