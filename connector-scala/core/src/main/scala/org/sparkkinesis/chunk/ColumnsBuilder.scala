package org.sparkkinesis.chunk

import java.util.Arrays

import org.sparkkinesis.aggregate.AggregatedRecord
import org.sparkkinesis.model.KinesisRecord
import org.sparkkinesis.model.packed.PackedBytes

/**
 * Collects rows into columns. Rarely used columns are created with the first row that has a value.
 *
 * @param expectedRows
 *   expected number of rows
 * @param like
 *   a record whose key and sequence number have typical lengths
 */
final private[chunk] class ColumnsBuilder(expectedRows: Int, like: KinesisRecord) {
  private var data = new Array[Array[Byte]](math.max(1, expectedRows))
  private var arrivals = new Array[Long](data.length)
  private val keys = new PackedBytes.Builder(data.length, data.length * (keyLength(like) + 4))
  private val numbers = new PackedBytes.Builder(data.length, like.sequenceNumber.length * data.length)
  private var subNumbers: Array[Long] = null
  private var aggregated: Array[Boolean] = null
  private var hashKeys: PackedBytes.Builder = null
  private var encryption: Array[String] = null

  private var record: KinesisRecord = null
  private var container: AggregatedRecord = null
  private var firstOfRecord = 0

  /** For each key of the aggregate, the first row with that key. Rows with the same key share its bytes. */
  private var rowOfKey: Array[Int] = null

  var rows: Int = 0

  /** Bytes of payloads and keys so far. */
  var bytes: Long = 0L

  def addPlain(plain: KinesisRecord): Unit = {
    keys.add(plain.partitionKey)
    numbers.addAscii(plain.sequenceNumber)
    addRow(plain, plain.data)
  }

  def beginContainer(of: KinesisRecord, opened: AggregatedRecord): Unit = {
    record = of
    container = opened
    firstOfRecord = rows
    rowOfKey = new Array[Int](opened.keyCount)
    Arrays.fill(rowOfKey, -1)
  }

  def addUserRecord(index: Int): Unit = {
    val key = container.keyIndex(index)
    if (rowOfKey(key) >= 0) keys.repeat(rowOfKey(key))
    else {
      rowOfKey(key) = rows
      keys.add(container.container, container.keyStart(key), container.keyLength(key))
    }
    if (rows == firstOfRecord) numbers.addAscii(record.sequenceNumber) else numbers.repeatLast()
    val row = rows
    addRow(record, container.data(index))
    if (subNumbers == null) {
      subNumbers = new Array[Long](data.length)
      aggregated = new Array[Boolean](data.length)
    }
    subNumbers(row) = index.toLong
    aggregated(row) = true
    if (container.hasExplicitHashKey(index)) {
      if (hashKeys == null) hashKeys = new PackedBytes.Builder(data.length, data.length)
      while (hashKeys.size < row) hashKeys.add(null)
      hashKeys.add(container.explicitHashKey(index))
    }
  }

  /** Removes all rows from `row` on. */
  def cut(row: Int, bytesBefore: Long): Unit = {
    Arrays.fill(data.asInstanceOf[Array[AnyRef]], row, rows, null)
    Seq(keys, numbers).foreach(_.cut(row))
    if (hashKeys != null) hashKeys.cut(row)
    rows = row
    bytes = bytesBefore
  }

  def result(): ChunkColumns = {
    if (hashKeys != null) while (hashKeys.size < rows) hashKeys.add(null)
    new ChunkColumns(
      data,
      keys.result(),
      numbers.result(),
      arrivals,
      subNumbers,
      if (hashKeys == null) null else hashKeys.result(),
      encryption,
      aggregated
    )
  }

  private def addRow(of: KinesisRecord, payload: Array[Byte]): Unit = {
    if (rows == data.length) grow()
    data(rows) = payload
    arrivals(rows) = of.arrivalMillis
    if (of.encryptionType != null) {
      if (encryption == null) encryption = new Array[String](data.length)
      encryption(rows) = of.encryptionType
    }
    bytes += payload.length + keys.lastLength
    rows += 1
  }

  private def grow(): Unit = {
    val size = math.min(data.length.toLong * 2, Int.MaxValue - 8L).toInt
    data = Arrays.copyOf(data, size)
    arrivals = Arrays.copyOf(arrivals, size)
    if (subNumbers != null) {
      subNumbers = Arrays.copyOf(subNumbers, size)
      aggregated = Arrays.copyOf(aggregated, size)
    }
    if (encryption != null) encryption = Arrays.copyOf(encryption, size)
  }

  private def keyLength(of: KinesisRecord): Int = if (of.partitionKey == null) 0 else of.partitionKey.length
}
