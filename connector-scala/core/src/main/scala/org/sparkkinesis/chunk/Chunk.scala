package org.sparkkinesis.chunk

import org.sparkkinesis.model.SequenceNumber

/**
 * What the planner needs to know of a chunk.
 *
 * @param last
 *   sequence number of its last record: a place where a micro-batch may end
 * @param rows
 *   user records, after de-aggregation
 * @param bytes
 *   payload and partition keys
 * @param firstArrivalMillis
 *   of its first record
 * @param newestArrivalMillis
 *   the latest arrival time in it, which need not be the last record's
 * @param millisBehindLatest
 *   as the service told it with the answer that this chunk was in
 */
final case class ChunkSummary(
    last: SequenceNumber,
    rows: Int,
    bytes: Long,
    firstArrivalMillis: Long,
    newestArrivalMillis: Long,
    lastArrivalMillis: Long,
    millisBehindLatest: Long
)

/**
 * The columns of consecutive user records; a chunk is all of them or a slice. Arrays that hold nothing for any row are null.
 *
 * Never changed once it is shared.
 */
final class ChunkColumns(
    val data: Array[Array[Byte]],
    val keys: PackedBytes,
    val sequenceNumbers: PackedBytes,
    val arrivalMillis: Array[Long],
    val subSequenceNumbers: Array[Long],
    val explicitHashKeys: PackedBytes,
    val encryptionTypes: Array[String],
    val aggregated: Array[Boolean]
) extends Serializable

/**
 * Consecutive user records of one shard, as columns. Immutable; any thread may read it, by row, without allocation.
 *
 * It holds whole Kinesis records only: the user records of one aggregate are never in two chunks.
 */
final class Chunk private[chunk] (
    val columns: ChunkColumns,
    val from: Int,
    val rows: Int,
    val bytes: Long,
    val newestArrivalMillis: Long,
    val millisBehindLatest: Long
) extends Serializable {
  require(rows > 0, "a chunk has at least one row")

  def data(row: Int): Array[Byte] = columns.data(from + row)
  def keyBytes: Array[Byte] = columns.keys.bytes
  def keyStart(row: Int): Int = columns.keys.start(from + row)

  /** -1 when the record has no partition key. */
  def keyLength(row: Int): Int = columns.keys.length(from + row)
  def sequenceBytes: Array[Byte] = columns.sequenceNumbers.bytes
  def sequenceStart(row: Int): Int = columns.sequenceNumbers.start(from + row)
  def sequenceLength(row: Int): Int = columns.sequenceNumbers.length(from + row)
  def arrivalMillis(row: Int): Long = columns.arrivalMillis(from + row)

  /** Place within its aggregate; 0 for a plain record. */
  def subSequenceNumber(row: Int): Long =
    if (columns.subSequenceNumbers == null) 0 else columns.subSequenceNumbers(from + row)
  def aggregated(row: Int): Boolean = columns.aggregated != null && columns.aggregated(from + row)

  /** Null unless the record was encrypted at rest. */
  def encryptionType(row: Int): String =
    if (columns.encryptionTypes == null) null else columns.encryptionTypes(from + row)
  def hasExplicitHashKey(row: Int): Boolean = columns.explicitHashKeys != null &&
    !columns.explicitHashKeys.isNull(from + row)
  def explicitHashKey(row: Int): String =
    if (columns.explicitHashKeys == null) null else columns.explicitHashKeys.string(from + row)
  def partitionKey(row: Int): String = columns.keys.string(from + row)
  def sequenceNumber(row: Int): SequenceNumber = SequenceNumber.trusted(columns.sequenceNumbers.string(from + row))

  def firstSequenceNumber: SequenceNumber = sequenceNumber(0)
  val lastSequenceNumber: SequenceNumber = sequenceNumber(rows - 1)
  def lastArrivalMillis: Long = arrivalMillis(rows - 1)

  /** What the chunk keeps alive: payload, keys, what each row needs besides, and what the chunk itself needs. */
  def retainedBytes: Long = bytes + rows.toLong * Chunk.RowOverheadBytes + Chunk.OverheadBytes

  def summary: ChunkSummary =
    ChunkSummary(
      lastSequenceNumber,
      rows,
      bytes,
      arrivalMillis(0),
      newestArrivalMillis,
      lastArrivalMillis,
      millisBehindLatest
    )

  /** The records after `sequenceNumber`; none when there are none. */
  def after(sequenceNumber: SequenceNumber): Option[Chunk] = slice(rowsUpTo(sequenceNumber), rows)

  /** The records up to and with `sequenceNumber`. */
  def upTo(sequenceNumber: SequenceNumber): Option[Chunk] = slice(0, rowsUpTo(sequenceNumber))

  /** How many rows lie at or before `sequenceNumber`. */
  private def rowsUpTo(sequenceNumber: SequenceNumber): Int =
    if (lastSequenceNumber <= sequenceNumber) rows
    else {
      var low = 0
      var high = rows
      while (low < high) {
        val middle = (low + high) >>> 1
        if (compareAt(middle, sequenceNumber.value) <= 0) low = middle + 1 else high = middle
      }
      low
    }

  private def compareAt(row: Int, digits: String): Int = {
    val length = sequenceLength(row)
    val start = sequenceStart(row)
    var order = Integer.compare(length, digits.length)
    var i = 0
    while (order == 0 && i < length) {
      order = Integer.compare(sequenceBytes(start + i).toInt, digits.charAt(i).toInt)
      i += 1
    }
    order
  }

  private def slice(start: Int, end: Int): Option[Chunk] =
    if (start >= end) None
    else if (start == 0 && end == rows) Some(this)
    else Some(Chunk.of(columns, from + start, end - start, millisBehindLatest))
}

object Chunk {

  /** A row's share of the arrays: array header and reference 24, arrival 8, sequence number 56, starts and lengths 16. */
  val RowOverheadBytes: Int = 104

  /**
   * The objects of a chunk with any number of rows: the columns, the headers of their arrays, and its last sequence number. It
   * outweighs the rows of a quiet shard, whose chunks have one or two.
   */
  val OverheadBytes: Int = 560

  private[chunk] def of(columns: ChunkColumns, from: Int, rows: Int, millisBehindLatest: Long): Chunk = {
    var bytes = 0L
    var newest = Long.MinValue
    var row = from
    while (row < from + rows) {
      bytes += columns.data(row).length + math.max(0, columns.keys.length(row))
      newest = math.max(newest, columns.arrivalMillis(row))
      row += 1
    }
    new Chunk(columns, from, rows, bytes, newest, millisBehindLatest)
  }
}
