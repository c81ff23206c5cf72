package org.sparkkinesis.retry

import scala.concurrent.duration._

import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}

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
 * @param healTime
 *   time in which failures that can end by themselves are retried, also beyond `maxRetries`: credentials that their
 *   source does not give yet, a wrong clock, and a key of KMS that cannot be used yet. With 0, `maxRetries` limits all
 *   failures
 */
final case class RetryPolicy(
    maxRetries: Option[Int],
    base: FiniteDuration,
    max: FiniteDuration,
    exponent: Double,
    healTime: FiniteDuration
) {
  require(maxRetries.forall(_ >= 0), s"maxRetries must not be negative, was $maxRetries")
  require(base > Duration.Zero && max >= base, s"backoff needs 0 < base <= max, was base $base and max $max")
  require(exponent >= 1, s"backoff exponent must be at least 1, was $exponent")

  def allows(retry: Int): Boolean = maxRetries.forall(retry <= _)

  /**
   * Returns whether a failure may be retried. A throttled call is retried until it succeeds, unless `healTime` is 0.
   *
   * @param elapsed
   *   time since the first of these failures in a row
   */
  def allows(retry: Int, error: ServiceException, elapsed: => FiniteDuration): Boolean = allows(retry) ||
    healTime > Duration.Zero && (error.isThrottling || ServiceErrorKind.healing(error.kind) && elapsed < healTime)

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

object RetryPolicy {

  /** A policy in which the number of retries limits all failures. */
  def apply(maxRetries: Option[Int], base: FiniteDuration, max: FiniteDuration, exponent: Double): RetryPolicy =
    RetryPolicy(maxRetries, base, max, exponent, Duration.Zero)
}
