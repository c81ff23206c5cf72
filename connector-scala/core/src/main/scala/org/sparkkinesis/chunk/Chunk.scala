package org.sparkkinesis.chunk

import org.sparkkinesis.model.packed.{PackedBytes, RecordColumns}
import org.sparkkinesis.model.{SequenceNumber, UserRecord}

/**
 * Summary of a chunk for the planner.
 *
 * @param last
 *   sequence number of the last record; a micro-batch may end there
 * @param rows
 *   number of user records, after de-aggregation
 * @param bytes
 *   bytes of payloads and partition keys
 * @param firstArrivalMillis
 *   arrival time of the first record, epoch milliseconds
 * @param newestArrivalMillis
 *   latest arrival time of all records, which may differ from that of the last record
 * @param lastArrivalMillis
 *   arrival time of the last record
 * @param millisBehindLatest
 *   the value of the response that contained the chunk
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
 * Columns of consecutive user records. A chunk refers to all rows or to a range of them. A column without any value is
 * null. Immutable after it is shared.
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
 * Consecutive user records of one shard, as columns. Immutable and thread-safe. Access by row does not allocate.
 *
 * A chunk contains complete Kinesis records only: it never splits the user records of an aggregate.
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

  /** Returns -1 if the record has no partition key. */
  def keyLength(row: Int): Int = columns.keys.length(from + row)
  def sequenceBytes: Array[Byte] = columns.sequenceNumbers.bytes
  def sequenceStart(row: Int): Int = columns.sequenceNumbers.start(from + row)
  def sequenceLength(row: Int): Int = columns.sequenceNumbers.length(from + row)
  def arrivalMillis(row: Int): Long = columns.arrivalMillis(from + row)

  /** Index of the user record in its aggregate; 0 for a plain record. */
  def subSequenceNumber(row: Int): Long =
    if (columns.subSequenceNumbers == null) 0 else columns.subSequenceNumbers(from + row)
  def aggregated(row: Int): Boolean = columns.aggregated != null && columns.aggregated(from + row)

  /** Returns null if the record was not encrypted at rest. */
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

  /** Memory in bytes that the chunk retains: payloads, keys, and the overhead of its rows and of the chunk itself. */
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

  /** Returns the records after `sequenceNumber`, or `None` if there are none. */
  def after(sequenceNumber: SequenceNumber): Option[Chunk] = slice(rowsUpTo(sequenceNumber), rows)

  /** Returns the records up to and including `sequenceNumber`, or `None` if there are none. */
  def upTo(sequenceNumber: SequenceNumber): Option[Chunk] = slice(0, rowsUpTo(sequenceNumber))

  /** Returns the user records after this one, or `None` if there are none. */
  def after(last: UserRecord): Option[Chunk] = slice(rowsUpTo(last), rows)

  /** Returns the user records up to and including this one, or `None` if there are none. */
  def upTo(last: UserRecord): Option[Chunk] = slice(0, rowsUpTo(last))

  /** Returns the records at and after `sequenceNumber`, or `None` if there are none. */
  def at(sequenceNumber: SequenceNumber): Option[Chunk] = slice(rowsBefore(sequenceNumber, rows), rows)

  /** Returns the rows from this one on, or `None` if there are none. */
  def drop(first: Int): Option[Chunk] = slice(math.min(first, rows), rows)

  /**
   * Number of rows at or before a user record. A record that was not opened, because de-aggregation is off, counts as
   * a whole record after it: reading a part of an aggregate again is better than losing the rest.
   */
  private def rowsUpTo(last: UserRecord): Int = {
    val upTo = rowsUpTo(last.sequenceNumber)
    var row = rowsBefore(last.sequenceNumber, upTo)
    while (row < upTo && aggregated(row) && subSequenceNumber(row) <= last.subSequenceNumber) row += 1
    row
  }

  /** Number of rows before `sequenceNumber` among the first `upTo` rows. */
  private def rowsBefore(sequenceNumber: SequenceNumber, upTo: Int): Int =
    firstRow(upTo)(row => compareAt(row, sequenceNumber.value) >= 0)

  /** Number of rows at or before `sequenceNumber`. */
  private def rowsUpTo(sequenceNumber: SequenceNumber): Int =
    if (lastSequenceNumber <= sequenceNumber) rows
    else firstRow(rows)(row => compareAt(row, sequenceNumber.value) > 0)

  /** The first row below `end` for which the condition holds, or `end`. It holds for all later rows as well. */
  private def firstRow(end: Int)(holds: Int => Boolean): Int = {
    var low = 0
    var high = end
    while (low < high) {
      val middle = (low + high) >>> 1
      if (holds(middle)) high = middle else low = middle + 1
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

  /**
   * Overhead per row in bytes: 24 for array header and reference, 8 for the arrival time, 56 for the sequence number,
   * and 16 for starts and lengths.
   */
  val RowOverheadBytes: Int = 104

  /**
   * Overhead per chunk in bytes: the columns, the headers of their arrays, and the last sequence number. In a shard
   * with little traffic, chunks have one or two rows, and this overhead exceeds that of the rows.
   */
  val OverheadBytes: Int = 560

  /** Returns a chunk of all these records, which are not aggregates. It shares their columns. */
  private[chunk] def of(records: RecordColumns, millisBehindLatest: Long): Chunk = new Chunk(
    columnsOf(records),
    0,
    records.rows,
    records.bytes,
    records.newestArrivalMillis,
    millisBehindLatest
  )

  private[chunk] def columnsOf(records: RecordColumns): ChunkColumns = new ChunkColumns(
    records.data,
    records.keys,
    records.sequenceNumbers,
    records.arrivalMillis,
    subSequenceNumbers = null,
    explicitHashKeys = null,
    records.encryptionTypes,
    aggregated = null
  )

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
