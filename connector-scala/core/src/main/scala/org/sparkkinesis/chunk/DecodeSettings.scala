package org.sparkkinesis.chunk

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.model.packed.PackedRecords

/**
 * Controls how records become rows.
 *
 * @param maxChunkRows
 *   maximum number of rows per chunk; a single aggregate may exceed it
 * @param maxChunkBytes
 *   maximum number of bytes of payloads and keys per chunk; a single record may exceed it
 * @param deaggregate
 *   whether KPL aggregates are unpacked
 * @param hashRangeFilter
 *   whether user records of an aggregate that belong to another shard are dropped
 * @param maxChunkMillis
 *   maximum time in milliseconds between the arrivals of a chunk's first record and of any other record
 */
final case class DecodeSettings(
    maxChunkRows: Int,
    maxChunkBytes: Int,
    deaggregate: Boolean,
    hashRangeFilter: Boolean,
    maxChunkMillis: Long
) {
  require(
    maxChunkRows > 0 && maxChunkBytes > 0,
    s"maxChunkRows and maxChunkBytes must be positive, were $maxChunkRows and $maxChunkBytes"
  )
}

object DecodeSettings {

  /** Maximum size of a chunk. Chunks are smaller if the size of micro-batches is limited. */
  val MaxRows: Int = PackedRecords.MaxRows
  val MaxBytes: Int = PackedRecords.MaxBytes

  /** The limit of a micro-batch divided by the size of a chunk, so that several shards can contribute to a batch. */
  private val ChunksPerLimit = 16

  /** The maximum skew of aligned shards divided by the time that a chunk spans. */
  private val ChunksPerSkew = 4

  def of(options: Options): DecodeSettings = {
    def share(limit: Option[Long], most: Int): Int =
      limit.fold(most)(n => math.min(most.toLong, math.max(1L, n / ChunksPerLimit)).toInt)
    DecodeSettings(
      share(options.get(ReadOptions.maxRecordsPerTrigger), MaxRows),
      share(options.get(ReadOptions.maxBytesPerTrigger), MaxBytes),
      options(ReadOptions.deaggregation),
      options(ReadOptions.deaggregationHashRangeFilter),
      options.get(ReadOptions.alignShards).fold(Long.MaxValue)(skew => math.max(1L, skew.toMillis / ChunksPerSkew))
    )
  }
}
