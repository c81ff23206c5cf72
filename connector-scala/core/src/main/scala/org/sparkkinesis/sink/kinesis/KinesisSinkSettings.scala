package org.sparkkinesis.sink.kinesis

import org.sparkkinesis.config.value.{RateLimitingOption, WriteOrdering}
import org.sparkkinesis.config.{Options, WriteOptions}
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.Operation
import org.sparkkinesis.sink.kinesis.pack.AggregatePacker
import org.sparkkinesis.sink.limit.RateLimitingParameters
import org.sparkkinesis.sink.{AsyncSinkSettings, SinkBounds}

/**
 * Settings for writing to a stream. Serializable and without secrets.
 *
 * @param shardLimits
 *   whether each shard has its own limits, so that a hot shard delays only its own records
 * @param rules
 *   failures that are retried
 */
final case class KinesisSinkSettings(
    requests: AsyncSinkSettings,
    rateLimiting: RateLimitingOption,
    rateLimitingParameters: RateLimitingParameters,
    shardLimits: Boolean,
    ordering: WriteOrdering,
    aggregated: Boolean,
    retries: RetryPolicies,
    rules: RetryRules
) {

  /**
   * Settings of a writer, whose entries are user records. With aggregation, a request is sent when it contains an
   * aggregate for each shard, or at least 1 MiB; smaller requests would cost more than the records they contain. The
   * number of records is limited so that the objects that describe them take no more memory than `maxBufferedBytes`.
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
        maxBufferedEntries = math.max(
          requests.maxBatchSize.toLong,
          math.min(requests.maxBufferedBytes / KinesisSinkSettings.BytesOfEntry, Int.MaxValue.toLong)
        ).toInt
      )

  /** Whether the sink lists the shards of its stream. */
  def needsShards: Boolean = shardLimits || aggregated || ordering == WriteOrdering.ByKey || countsShards

  /** Whether the rate depends on the number of shards. That of a class of the user may do so. */
  private def countsShards: Boolean = rateLimiting match {
    case RateLimitingOption.Aimd | RateLimitingOption.Unlimited => false
    case RateLimitingOption.BatchAndDelay | _: RateLimitingOption.OfClass => true
  }

  /** Creates the limits that the sinks of one task share. */
  def newBounds: SinkBounds = requestsFor(1).newBounds
}

object KinesisSinkSettings {

  /** A limit that requests reach only if their records are empty; otherwise the byte limit applies first. */
  private val AggregatedBatch = 100 * KinesisQuotas.Request.PutRecordsEntries

  /** Memory that the objects of a record take beside its payload and keys, in bytes. */
  val BytesOfEntry: Long = 256

  private val AggregatedBytes = KinesisQuotas.KiB.toLong * KinesisQuotas.KiB

  def of(options: Options): KinesisSinkSettings = of(options, RetryPolicies.ofWrite(options))

  private def of(options: Options, retries: RetryPolicies): KinesisSinkSettings = KinesisSinkSettings(
    AsyncSinkSettings.of(options, WriteOptions.maxBatchBytes, retries(Operation.PutRecords)),
    options(WriteOptions.rateLimiting),
    RateLimitingParameters.of(options),
    options(WriteOptions.shardLimits),
    options(WriteOptions.ordering),
    options(WriteOptions.aggregation),
    retries,
    RetryRules.of(options)
  )
}
