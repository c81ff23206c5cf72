package org.sparkkinesis.chunk

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.model.KinesisQuotas

/**
 * How records become rows.
 *
 * @param maxChunkRows
 *   a chunk has no more rows, unless a single aggregate has
 * @param maxChunkBytes
 *   likewise for payload and keys
 * @param deaggregate
 *   whether KPL containers are opened
 * @param hashRangeFilter
 *   whether user records of an aggregate that belong to another shard are dropped
 */
final case class DecodeSettings(
    maxChunkRows: Int,
    maxChunkBytes: Int,
    deaggregate: Boolean,
    hashRangeFilter: Boolean
) {
  require(maxChunkRows > 0 && maxChunkBytes > 0, "a chunk must be allowed to hold something")
}

object DecodeSettings {

  /** The largest chunk; a batch that is limited has smaller ones. */
  val MaxRows: Int = 4096
  val MaxBytes: Int = KinesisQuotas.MiB

  /** Chunks are this much smaller than a batch's limit, so that several shards can share it. */
  private val ChunksOfALimit = 16

  def of(options: Options): DecodeSettings = {
    def share(limit: Option[Long], most: Int): Int =
      limit.fold(most)(n => math.min(most.toLong, math.max(1L, n / ChunksOfALimit)).toInt)
    DecodeSettings(
      share(options.get(ReadOptions.maxRecordsPerTrigger), MaxRows),
      share(options.get(ReadOptions.maxBytesPerTrigger), MaxBytes),
      options(ReadOptions.deaggregation),
      options(ReadOptions.deaggregationHashRangeFilter)
    )
  }
}
