package org.sparkkinesis.sink.kinesis

import scala.concurrent.duration._

import org.sparkkinesis.config.{Options, RateLimitingOption, RetryOptions, WriteOptions, WriteOrdering}
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.retry.RetryPolicy
import org.sparkkinesis.sink.kinesis.pack.AggregatePacker
import org.sparkkinesis.sink.{AsyncSinkSettings, SinkBounds}

/**
 * How records are written to a stream; travels to the executors and holds no secret.
 *
 * @param shardLimits
 *   each shard has limits of its own, so that a hot one delays only its own records
 */
final case class KinesisSinkSettings(
    requests: AsyncSinkSettings,
    rateLimiting: RateLimitingOption,
    shardLimits: Boolean,
    ordered: Boolean,
    aggregated: Boolean
) {

  /**
   * The writer's bounds, which count user records: a request goes out when there is an aggregate for each shard, or a MiB of
   * them, below which the request itself costs more than what it carries.
   */
  def requestsFor(openShards: Int): AsyncSinkSettings =
    if (!aggregated) requests
    else
      requests.copy(
        maxBatchSize = KinesisSinkSettings.AggregatedBatch,
        maxBatchBytes = math.min(
          requests.maxBatchBytes,
          math.max(
            KinesisSinkSettings.AggregatedBytes,
            math.min(openShards, requests.maxBatchSize).toLong * AggregatePacker.MaxBytes
          )
        ),
        maxBufferedEntries = Int.MaxValue
      )

  /** New bounds, for the sinks of one task. With aggregation only bytes count. */
  def newBounds: SinkBounds = requestsFor(1).newBounds
}

object KinesisSinkSettings {

  /** A bound that no request reaches before its bytes do, unless its records are empty. */
  private val AggregatedBatch = 100 * KinesisQuotas.Request.PutRecordsEntries

  private val AggregatedBytes = KinesisQuotas.KiB.toLong * KinesisQuotas.KiB

  private val Backoff = RetryPolicy(None, 50.millis, 5.seconds, 2)

  def of(options: Options): KinesisSinkSettings = KinesisSinkSettings(
    AsyncSinkSettings(
      maxBatchSize = options(WriteOptions.maxBatchSize).toInt,
      maxBatchBytes = options(WriteOptions.maxBatchBytes),
      maxTimeInBuffer = options(WriteOptions.maxTimeInBuffer),
      maxInFlightRequests = options(WriteOptions.maxInFlightRequests).toInt,
      maxBufferedEntries = options(WriteOptions.maxBufferedRecords).toInt,
      maxBufferedBytes = options(WriteOptions.maxBufferedBytes),
      requestTimeout = options(WriteOptions.requestTimeout),
      deliveryTimeout = options(WriteOptions.deliveryTimeout),
      maxRetries = options(RetryOptions.putRecordsMaxRetries) match {
        case -1 => Int.MaxValue
        case retries => retries.toInt
      },
      backoff = Backoff
    ),
    options(WriteOptions.rateLimiting),
    options(WriteOptions.shardLimits),
    options(WriteOptions.ordering) == WriteOrdering.ByKey,
    options(WriteOptions.aggregation)
  )
}
