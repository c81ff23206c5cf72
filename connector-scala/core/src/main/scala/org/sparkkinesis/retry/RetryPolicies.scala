package org.sparkkinesis.retry

import org.sparkkinesis.config.{Options, RetryEntries, RetryOptions}
import org.sparkkinesis.service.TunableOperation

/**
 * The retry policy of each operation that reads use. By default, the operations that a running query needs are retried
 * without limit, so that an outage does not end the query.
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
