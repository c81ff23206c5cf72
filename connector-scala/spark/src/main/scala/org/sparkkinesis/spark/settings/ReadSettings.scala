package org.sparkkinesis.spark.settings

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.chunk.DecodeSettings
import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.consume.poll.PollingSettings
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/**
 * What executors need to read; it travels with tasks and placement jobs. Its text holds no secret.
 *
 * @param clients
 *   stream's ARN → as whom and where it is read
 * @param bufferBytes
 *   prefetch memory of each executor; empty for a share of its heap
 * @param fanOut
 *   stream's ARN → consumer's ARN, when the consumers read by enhanced fan-out; a task that reads a range again always polls
 * @param query
 *   how log lines name the query
 */
final case class ReadSettings(
    clients: Map[String, ClientSettings],
    polling: PollingSettings,
    retries: RetryPolicies,
    rules: RetryRules,
    decode: DecodeSettings,
    bufferBytes: Option[Long],
    failOnDataLoss: Boolean,
    fanOut: Option[Map[String, String]] = None,
    query: QueryContext = QueryContext.Unknown
) {

  /** For one of the streams that are read. */
  def client(streamArn: String): ClientSettings = clients(streamArn)
}

object ReadSettings {

  /** Chunks are this much smaller than a batch's limit, so that several shards can share it. */
  private val ChunksOfALimit = 16

  def apply(options: Options, clients: Map[String, ClientSettings]): ReadSettings = ReadSettings(
    clients,
    PollingSettings(
      maxRecordsPerFetch = options(ReadOptions.maxRecordsPerFetch).toInt,
      minFetchPeriod = options(ReadOptions.minFetchPeriod),
      maxFetchesPerSecond = options(ReadOptions.maxFetchesPerSecond),
      readBytesPerSecond = readBytesPerSecond(options)
    ),
    RetryPolicies.of(options),
    RetryRules.of(options),
    decode(options),
    options.get(ReadOptions.fetchBufferSize),
    options(ReadOptions.failOnDataLoss)
  )

  /** The byte quota goes with the call quota: whoever is allowed more calls than the service gives reads from something without quotas. */
  private def readBytesPerSecond(options: Options): Long = {
    val service = PollingSettings()
    val factor = math.max(1.0, options(ReadOptions.maxFetchesPerSecond) / service.maxFetchesPerSecond)
    (service.readBytesPerSecond * factor).toLong
  }

  private def decode(options: Options): DecodeSettings = {
    val standard = DecodeSettings(
      deaggregate = options(ReadOptions.deaggregation),
      hashRangeFilter = options(ReadOptions.deaggregationHashRangeFilter)
    )
    def share(limit: Option[Long], most: Int): Int =
      limit.fold(most)(n => math.min(most.toLong, math.max(1L, n / ChunksOfALimit)).toInt)
    standard.copy(
      maxChunkRows = share(options.get(ReadOptions.maxRecordsPerTrigger), standard.maxChunkRows),
      maxChunkBytes = share(options.get(ReadOptions.maxBytesPerTrigger), standard.maxChunkBytes)
    )
  }
}
