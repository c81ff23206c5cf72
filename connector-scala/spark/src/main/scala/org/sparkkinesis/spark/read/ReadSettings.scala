package org.sparkkinesis.spark.read

import org.sparkkinesis.aws.ClientSettings
import org.sparkkinesis.config.{Options, ReadOptions, RetryEntries, RetryOptions}
import org.sparkkinesis.consume.DecodeSettings
import org.sparkkinesis.consume.poll.PollingSettings
import org.sparkkinesis.retry.{RetryPolicies, RetryPolicy}

/**
 * What executors need to read; it travels with tasks and placement jobs. Its text holds no secret.
 *
 * @param bufferBytes
 *   prefetch memory of each executor; empty for a share of its heap
 * @param fanOut
 *   stream's ARN → consumer's ARN, when the consumers read by enhanced fan-out; a task that reads a range again always polls
 */
final case class ReadSettings(
    client: ClientSettings,
    polling: PollingSettings,
    retries: RetryPolicies,
    decode: DecodeSettings,
    bufferBytes: Option[Long],
    failOnDataLoss: Boolean,
    fanOut: Option[Map[String, String]] = None
)

object ReadSettings {

  /** Chunks are this much smaller than a batch's limit, so that several shards can share it. */
  private val ChunksOfALimit = 16

  def apply(options: Options, client: ClientSettings): ReadSettings = ReadSettings(
    client,
    PollingSettings(
      maxRecordsPerFetch = options(ReadOptions.maxRecordsPerFetch).toInt,
      minFetchPeriod = options(ReadOptions.minFetchPeriod),
      maxFetchesPerSecond = options(ReadOptions.maxFetchesPerSecond),
      readBytesPerSecond = readBytesPerSecond(options)
    ),
    retryPolicies(options),
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

  def retryPolicies(options: Options): RetryPolicies = {
    def policy(entries: RetryEntries): RetryPolicy = {
      val base = options(entries.base)
      RetryPolicy(
        Some(options(entries.maxRetries).toInt).filter(_ >= 0),
        base,
        options(entries.max).max(base),
        options(entries.exponent)
      )
    }
    RetryPolicies(
      policy(RetryOptions.registerStreamConsumer),
      policy(RetryOptions.deregisterStreamConsumer),
      policy(RetryOptions.listStreamConsumers),
      policy(RetryOptions.subscribeToShard),
      policy(RetryOptions.getRecords),
      policy(RetryOptions.getShardIterator),
      policy(RetryOptions.listShards)
    )
  }
}
