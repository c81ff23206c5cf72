package org.sparkkinesis.consume

import org.sparkkinesis.aggregate.{AggregatedRecord, Deaggregator}
import org.sparkkinesis.model.{HashKey, HashKeyRange, KinesisRecord}

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
    maxChunkRows: Int = 4096,
    maxChunkBytes: Int = 1024 * 1024,
    deaggregate: Boolean = true,
    hashRangeFilter: Boolean = false
) {
  require(maxChunkRows > 0 && maxChunkBytes > 0, "a chunk must be allowed to hold something")
}

/**
 * Turns the records of one answer into chunks that share the answer's columns. Stateless; thread-safe.
 *
 * @param hashKeyRange
 *   the shard's own, needed only by `hashRangeFilter`
 */
final class ChunkBuilder(settings: DecodeSettings, hashKeyRange: Option[HashKeyRange], metrics: ConsumerMetrics) {
  private val keep: Option[HashKeyRange] = hashKeyRange.filter(_ => settings.hashRangeFilter)

  /** No chunk at all when `records` is empty, or when the filter drops every row. */
  def build(records: IndexedSeq[KinesisRecord], millisBehindLatest: Long): IndexedSeq[Chunk] = {
    val columns = new ColumnsBuilder(records)
    val cuts = new Cuts(columns)
    var opened = 0L
    var i = 0
    while (i < records.length) {
      val record = records(i)
      val container = if (settings.deaggregate) Deaggregator.open(record.data) else null
      cuts.beginRecord()
      if (container == null) columns.addPlain(record)
      else {
        opened += 1
        addAggregated(columns, record, container)
      }
      cuts.endRecord()
      i += 1
    }
    metrics.records.add(records.length.toLong)
    metrics.rows.add(columns.rows.toLong)
    metrics.bytes.add(columns.bytes)
    if (opened > 0) metrics.aggregatedRecords.add(opened)
    cuts.chunks(millisBehindLatest)
  }

  private def addAggregated(columns: ColumnsBuilder, record: KinesisRecord, container: AggregatedRecord): Unit = {
    columns.beginContainer(record, container)
    var dropped = 0L
    var i = 0
    while (i < container.count) {
      if (keep.forall(_.contains(effectiveHash(container, i)))) columns.addUserRecord(i) else dropped += 1
      i += 1
    }
    if (dropped > 0) metrics.filteredRows.add(dropped)
  }

  private def effectiveHash(container: AggregatedRecord, record: Int): BigInt =
    Option(
      container.explicitHashKey(record)
    ).flatMap(HashKey.parse).getOrElse(HashKey.ofPartitionKey(container.partitionKey(record)))

  /** Where one chunk ends and the next begins: before the record that would make it too large. */
  final private class Cuts(columns: ColumnsBuilder) {
    private val starts = Array.newBuilder[Int].addOne(0)
    private var start = 0
    private var startBytes = 0L
    private var recordStart = 0
    private var recordBytes = 0L

    def beginRecord(): Unit = {
      recordStart = columns.rows
      recordBytes = columns.bytes
    }

    def endRecord(): Unit = {
      val tooLarge = columns.rows - start > settings.maxChunkRows || columns.bytes - startBytes > settings.maxChunkBytes
      if (tooLarge && recordStart > start) {
        start = recordStart
        startBytes = recordBytes
        starts += start
      }
    }

    def chunks(millisBehindLatest: Long): IndexedSeq[Chunk] =
      if (columns.rows == 0) IndexedSeq.empty
      else {
        val shared = columns.result()
        val bounds = starts.addOne(columns.rows).result()
        Vector.tabulate(bounds.length - 1)(i =>
          Chunk.of(shared, bounds(i), bounds(i + 1) - bounds(i), millisBehindLatest)
        )
      }
  }
}
