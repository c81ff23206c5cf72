package org.sparkkinesis.retry

import scala.concurrent.duration._

import org.sparkkinesis.config.{Options, RetryEntries, RetryOptions}
import org.sparkkinesis.service.TunableOperation

/**
 * The retry policy of each operation. By default, the operations that a running query needs are retried without limit,
 * so that an outage does not end the query.
 */
final case class RetryPolicies(private val byKey: Map[String, RetryPolicy]) {
  def apply(operation: TunableOperation): RetryPolicy = byKey(operation.retryKey)
}

object RetryPolicies {

  /** Longer than a restart of what gives a container its credentials, and short enough for a person who waits. */
  val HealTime: FiniteDuration = 30.seconds

  /** The policies of a read. Before it starts, a read retries only a few times. */
  def of(options: Options): RetryPolicies = of(options, RetryOptions.RetriesBeforeRead)

  /** The policies of a write. Its delivery timeout limits the calls before the first record like all others. */
  def ofWrite(options: Options): RetryPolicies = of(options, RetryOptions.NoLimit)

  private def of(options: Options, retriesBeforeStart: Long): RetryPolicies = RetryPolicies(
    (RetryOptions.tunable :+ RetryOptions.putRecordBatch).map(entries =>
      entries.operation.retryKey -> policy(options, entries, retriesBeforeStart)
    ).toMap
  )

  private def policy(options: Options, entries: RetryEntries, retriesBeforeStart: Long): RetryPolicy = {
    val base = options(entries.base)
    RetryPolicy(
      Some(options.get(entries.maxRetries).getOrElse(retriesBeforeStart).toInt).filter(_ >= 0),
      base,
      options(entries.max).max(base),
      options(entries.exponent),
      if (options.isSet(entries.maxRetries)) Duration.Zero else HealTime
    )
  }
}
