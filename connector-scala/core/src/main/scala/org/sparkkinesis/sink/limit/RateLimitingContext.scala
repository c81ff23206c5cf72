package org.sparkkinesis.sink.limit

import java.util.Locale

import org.sparkkinesis.config.{Options, RateLimitingOptions}

/**
 * Information for a strategy.
 *
 * @param partitions
 *   current number of independent parts of the destination, for Kinesis its open shards; 0 if unknown
 * @param perPartition
 *   number of entries per second that one part accepts, as far as known
 * @param senders
 *   number of writers that write to the destination at the same time, in all executors of the query
 */
final class RateLimitingContext(
    val maxBatchSize: Int,
    val maxInFlightRequests: Int,
    val partitions: () => Int,
    perPartition: () => Int,
    val parameters: RateLimitingParameters = RateLimitingParameters.of(Options.defaults),
    val senders: () => Int = () => 1,
    onLimitChange: (Double, Double) => Unit = (_, _) => ()
) {

  /** Reports that the limit has changed notably, from `before` to `now` entries in flight. Must not be called often. */
  def limitChanged(before: Double, now: Double): Unit = onLimitChange(before, now)

  /** Number of entries per second that one part accepts, as far as known. */
  def entriesPerPartition: Int = perPartition()

  /** Returns the value of the option `rateLimiting.param.<name>`. The case of the name does not matter. */
  def parameter(name: String): Option[String] = parameters.custom.get(name.toLowerCase(Locale.ROOT))
}

object RateLimitingContext {

  /** Creates a context for a destination whose parts always accept the same number of entries. */
  def apply(
      maxBatchSize: Int,
      maxInFlightRequests: Int,
      partitions: () => Int,
      entriesPerPartition: Int
  ): RateLimitingContext =
    new RateLimitingContext(maxBatchSize, maxInFlightRequests, partitions, () => entriesPerPartition)
}

/**
 * The parameters of the strategies.
 *
 * @param custom
 *   parameters for a class of the user, by name in lower case
 */
final case class RateLimitingParameters(
    aimd: AimdRateLimiting.Parameters,
    batchAndDelay: BatchAndDelayRateLimiting.Parameters,
    custom: Map[String, String]
)

object RateLimitingParameters {
  def of(options: Options): RateLimitingParameters = RateLimitingParameters(
    AimdRateLimiting.Parameters(
      options(RateLimitingOptions.aimdIncrease).toInt,
      options(RateLimitingOptions.aimdDecrease),
      options(RateLimitingOptions.aimdMin).toInt,
      options.get(RateLimitingOptions.aimdMax).map(_.toInt)
    ),
    BatchAndDelayRateLimiting.Parameters(
      options(RateLimitingOptions.minDelay),
      options(RateLimitingOptions.maxDelay),
      options(RateLimitingOptions.growth),
      options(RateLimitingOptions.recovery),
      options(RateLimitingOptions.quietTime)
    ),
    options.withPrefix(RateLimitingOptions.param)
  )
}
