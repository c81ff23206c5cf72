package org.sparkkinesis.retry

import scala.concurrent.duration._

/**
 * How often and after which pause a failed call is made again: full jitter over an exponentially growing bound.
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
}

/**
 * One policy for each operation that the reading side calls. Defaults follow the field's (FLIP-128, Flink's reader), but what a running
 * query needs is retried without end: an outage is no reason to end it.
 */
final case class RetryPolicies(
    registerStreamConsumer: RetryPolicy = RetryPolicies.ConsumerChange,
    deregisterStreamConsumer: RetryPolicy = RetryPolicies.ConsumerChange,
    listStreamConsumers: RetryPolicy = RetryPolicies.ConsumerChange,
    subscribeToShard: RetryPolicy = RetryPolicy(None, 1.second, 2.seconds, 1.5),
    getRecords: RetryPolicy = RetryPolicies.Patient,
    getShardIterator: RetryPolicy = RetryPolicies.Patient,
    listShards: RetryPolicy = RetryPolicies.Patient
)

object RetryPolicies {
  private val ConsumerChange = RetryPolicy(Some(10), 200.millis, 1.second, 1.5)
  private val Patient = RetryPolicy(None, 200.millis, 3.seconds, 1.5)
}
