package org.sparkkinesis.chunk

import org.sparkkinesis.aggregate.{AggregatedRecord, Deaggregator}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.KinesisRecord
import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}
import org.sparkkinesis.model.packed.{PackedRecords, RecordColumns}

/**
 * Builds chunks from the records of a response. Stateless and thread-safe.
 *
 * @param hashKeyRange
 *   hash key range of the shard; required only by `hashRangeFilter`
 * @param onFiltered
 *   receives the number of rows that `hashRangeFilter` has dropped from a response
 */
final class ChunkBuilder(
    settings: DecodeSettings,
    hashKeyRange: Option[HashKeyRange],
    metrics: ConsumerMetrics,
    onFiltered: Long => Unit = _ => ()
) {
  private val keep: Option[HashKeyRange] = hashKeyRange.filter(_ => settings.hashRangeFilter)

  /** Returns no chunk if `records` is empty or the filter drops every row. */
  def build(records: IndexedSeq[KinesisRecord], millisBehindLatest: Long): IndexedSeq[Chunk] =
    if (records.isEmpty) IndexedSeq.empty
    else {
      val built = records match {
        case packed: PackedRecords if !settings.deaggregate || !mayContainAggregates(packed) =>
          packed.segments.flatMap(share(_, millisBehindLatest))
        case packed: PackedRecords => copy(packed.toVector, millisBehindLatest)
        case _ => copy(records, millisBehindLatest)
      }
      metrics.records.add(records.length.toLong)
      built.foreach { chunk =>
        metrics.rows.add(chunk.rows.toLong)
        metrics.bytes.add(chunk.bytes)
      }
      built
    }

  private def mayContainAggregates(packed: PackedRecords): Boolean = packed.segments.exists { records =>
    var row = 0
    while (row < records.rows && !Deaggregator.looksAggregated(records.data(row))) row += 1
    row < records.rows
  }

  /** Builds chunks that share the columns of `records`, none of which is an aggregate. */
  private def share(records: RecordColumns, millisBehindLatest: Long): Seq[Chunk] =
    if (
      records.rows <= settings.maxChunkRows && records.bytes <= settings.maxChunkBytes &&
      records.newestArrivalMillis - records.arrivalMillis(0) <= settings.maxChunkMillis
    ) Seq(Chunk.of(records, millisBehindLatest))
    else {
      val columns = Chunk.columnsOf(records)
      val chunks = Seq.newBuilder[Chunk]
      var from = 0
      var bytes = 0L
      var row = 0
      while (row < records.rows) {
        val size = records.data(row).length + math.max(0, records.keys.length(row))
        val isFull = row - from == settings.maxChunkRows || bytes + size > settings.maxChunkBytes
        val isLate = records.arrivalMillis(row) - records.arrivalMillis(from) > settings.maxChunkMillis
        if (row > from && (isFull || isLate)) {
          chunks += Chunk.of(columns, from, row - from, millisBehindLatest)
          from = row
          bytes = 0
        }
        bytes += size
        row += 1
      }
      chunks += Chunk.of(columns, from, row - from, millisBehindLatest)
      chunks.result()
    }

  /** Builds chunks with columns of their own, and opens aggregates. */
  private def copy(records: IndexedSeq[KinesisRecord], millisBehindLatest: Long): IndexedSeq[Chunk] = {
    val chunks = new Chunks(records, millisBehindLatest)
    var opened = 0L
    var i = 0
    while (i < records.length) {
      val container = if (settings.deaggregate) Deaggregator.open(records(i).data) else null
      if (container != null) opened += 1
      chunks.add(i, container)
      i += 1
    }
    if (opened > 0) metrics.aggregatedRecords.add(opened)
    if (chunks.dropped > 0) {
      metrics.filteredRows.add(chunks.dropped)
      onFiltered(chunks.dropped)
    }
    chunks.result()
  }

  /**
   * Builds consecutive chunks, each with its own columns. Columns for a whole response would be humongous objects for
   * G1.
   */
  final private class Chunks(records: IndexedSeq[KinesisRecord], millisBehindLatest: Long) {
    private val done = Vector.newBuilder[Chunk]
    private var firstArrivalMillis = 0L
    private var columns = begin(0)

    /** Rows that the filter dropped. */
    var dropped = 0L

    /** Adds a record to the current chunk, or starts the next chunk if the current one would become too large. */
    def add(index: Int, container: AggregatedRecord): Unit = {
      val record = records(index)
      val rows = if (container == null) 1L else container.count.toLong
      val isLate = record.arrivalMillis - firstArrivalMillis > settings.maxChunkMillis
      if (columns.rows > 0 && (isLate || isTooLarge(columns.rows + rows, columns.bytes + record.data.length)))
        next(index)
      val rowsBefore = columns.rows
      val bytesBefore = columns.bytes
      var filtered = addTo(columns, record, container)
      // The size of the rows of an aggregate is known only after adding them, because they can share keys.
      if (rowsBefore > 0 && isTooLarge(columns.rows.toLong, columns.bytes)) {
        columns.cut(rowsBefore, bytesBefore)
        next(index)
        filtered = addTo(columns, record, container)
      }
      dropped += filtered
    }

    def result(): IndexedSeq[Chunk] = {
      finish()
      done.result()
    }

    private def next(index: Int): Unit = {
      finish()
      columns = begin(index)
    }

    private def finish(): Unit =
      if (columns.rows > 0) done += Chunk.of(columns.result(), 0, columns.rows, millisBehindLatest)

    private def begin(index: Int): ColumnsBuilder = {
      val record = records(index)
      firstArrivalMillis = record.arrivalMillis
      val fitting = math.min(settings.maxChunkRows, settings.maxChunkBytes / math.max(1, record.size) + 1)
      new ColumnsBuilder(math.min(fitting, records.length - index), record)
    }

    private def isTooLarge(rows: Long, bytes: Long): Boolean =
      rows > settings.maxChunkRows || bytes > settings.maxChunkBytes
  }

  /** Adds the rows of a record and returns how many rows the filter dropped. */
  private def addTo(columns: ColumnsBuilder, record: KinesisRecord, container: AggregatedRecord): Long =
    if (container == null) {
      columns.addPlain(record)
      0
    } else {
      columns.beginContainer(record, container)
      var dropped = 0L
      var i = 0
      while (i < container.count) {
        if (keep.forall(_.contains(effectiveHash(container, i)))) columns.addUserRecord(i) else dropped += 1
        i += 1
      }
      dropped
    }

  private def effectiveHash(container: AggregatedRecord, record: Int): BigInt =
    Option(
      container.explicitHashKey(record)
    ).flatMap(HashKey.parse).getOrElse(HashKey.ofPartitionKey(container.partitionKey(record)))
}
