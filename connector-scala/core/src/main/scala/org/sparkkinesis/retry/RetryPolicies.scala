package org.sparkkinesis.retry

import org.sparkkinesis.config.{Options, RetryEntries, RetryOptions}
import org.sparkkinesis.service.TunableOperation

/**
 * The user's policy for each operation that the reading side calls. The defaults are those of the options: what a running query
 * needs is retried without end, because an outage is no reason to end it.
 */
final class RetryPolicies private (byKey: Map[String, RetryPolicy]) extends Serializable {
  def apply(operation: TunableOperation): RetryPolicy = byKey(operation.retryKey)
}

object RetryPolicies {
  def of(options: Options): RetryPolicies = new RetryPolicies(
    RetryOptions.reading.map(entries => entries.operation.retryKey -> policy(options, entries)).toMap
  )

  private def policy(options: Options, entries: RetryEntries): RetryPolicy = {
    val base = options(entries.base)
    RetryPolicy(
      Some(options(entries.maxRetries).toInt).filter(_ >= 0),
      base,
      options(entries.max).max(base),
      options(entries.exponent)
    )
  }
}
