package org.sparkkinesis.model.packed

import java.util.Arrays

import org.sparkkinesis.model.{KinesisQuotas, KinesisRecord}

/**
 * Records as columns, without an object per record. Immutable.
 *
 * @param data
 *   the payloads; only the first `rows` elements are used, as in all columns
 * @param encryptionTypes
 *   null if no record is encrypted
 * @param bytes
 *   bytes of payloads and partition keys
 */
final class RecordColumns private[packed] (
    val rows: Int,
    val data: Array[Array[Byte]],
    val keys: PackedBytes,
    val sequenceNumbers: PackedBytes,
    val arrivalMillis: Array[Long],
    val encryptionTypes: Array[String],
    val bytes: Long,
    val newestArrivalMillis: Long
) {
  def record(row: Int): KinesisRecord = new KinesisRecord(
    sequenceNumbers.string(row),
    keys.string(row),
    arrivalMillis(row),
    data(row),
    if (encryptionTypes == null) null else encryptionTypes(row)
  )
}

/**
 * The records of a response as a sequence of columns. As a collection it creates each record when it is accessed.
 * Immutable. It does not extend `AbstractSeq`, whose `last` creates all records.
 *
 * @param segments
 *   consecutive columns within the limits of [[PackedRecords.MaxRows]] and [[PackedRecords.MaxBytes]]; a record that
 *   exceeds a limit is alone. Columns for a whole response would be humongous objects for G1.
 */
final class PackedRecords private[packed] (val segments: IndexedSeq[RecordColumns])
    extends IndexedSeq[KinesisRecord] {
  override val length: Int = segments.iterator.map(_.rows).sum

  /** Bytes of payloads and partition keys. */
  val bytes: Long = segments.iterator.map(_.bytes).sum

  override def apply(index: Int): KinesisRecord = {
    if (index < 0 || index >= length) throw new IndexOutOfBoundsException(s"$index is not from 0 to ${length - 1}")
    var segment = 0
    var row = index
    while (row >= segments(segment).rows) {
      row -= segments(segment).rows
      segment += 1
    }
    segments(segment).record(row)
  }
}

object PackedRecords {
  val MaxRows: Int = 4096
  val MaxBytes: Int = KinesisQuotas.MiB

  /** Returns the total [[KinesisRecord.size]] of the records. */
  def sizeOf(records: IndexedSeq[KinesisRecord]): Long = records match {
    case packed: PackedRecords => packed.bytes
    case _ =>
      var bytes = 0L
      var i = 0
      while (i < records.length) {
        bytes += records(i).size
        i += 1
      }
      bytes
  }

  /** Expected length of a sequence number. */
  private val NumberLength = 56

  /** Expected length of a partition key. */
  private val KeyLength = 16
  private val MinCapacity = 8

  /**
   * Collects the fields of one record after the other, in any order. `endRecord` ends a record. Not thread-safe.
   *
   * @param expectedRows
   *   expected number of records
   */
  final class Builder(expectedRows: Int) {
    private val done = Vector.newBuilder[RecordColumns]
    private var open = new Segment(math.max(MinCapacity, math.min(expectedRows, MaxRows)))

    /** Column to which the sequence number of the current record is added. */
    def sequenceNumbers: PackedBytes.Builder = open.numbers

    /** Column to which the partition key of the current record is added. */
    def keys: PackedBytes.Builder = open.keys
    def data(payload: Array[Byte]): Unit = open.data(open.rows) = payload
    def arrivalMillis(millis: Long): Unit = open.arrivals(open.rows) = millis

    /** @param name null or NONE for a record that is not encrypted */
    def encryptionType(name: String): Unit = if (name != null && name != "NONE") open.encrypt(name)

    /**
     * Completes the current record. A record without partition key has a null key; one without payload has an empty
     * payload.
     *
     * @throws IllegalArgumentException
     *   if the record does not have exactly one sequence number, or has more than one partition key
     */
    def endRecord(): Unit = {
      open.endRecord()
      if (open.bytes > MaxBytes && open.rows > 1) {
        val full = open
        open = full.beginNext()
        open.takeLastOf(full)
        done += full.result()
      } else if (open.rows == MaxRows) {
        done += open.result()
        open = open.beginNext()
      }
    }

    def result(): PackedRecords = {
      if (open.rows > 0) done += open.result()
      new PackedRecords(done.result())
    }
  }

  final private class Segment(capacity: Int) {
    var data = new Array[Array[Byte]](capacity)
    var arrivals = new Array[Long](capacity)
    private var encryption: Array[String] = null
    val keys = new PackedBytes.Builder(capacity, capacity * KeyLength)
    val numbers = new PackedBytes.Builder(capacity, capacity * NumberLength)
    var rows = 0
    var bytes = 0L

    def encrypt(name: String): Unit = {
      if (encryption == null) encryption = new Array[String](data.length)
      encryption(rows) = name
    }

    def endRecord(): Unit = {
      if (numbers.size != rows + 1 || numbers.lastLength == 0)
        throw new IllegalArgumentException("A record does not have one sequence number")
      if (keys.size == rows) keys.add(null)
      if (keys.size != rows + 1) throw new IllegalArgumentException("A record has several partition keys")
      if (data(rows) == null) data(rows) = Array.emptyByteArray
      bytes += data(rows).length + keys.lastLength
      rows += 1
      if (rows == data.length && rows < MaxRows) resize(math.min(MaxRows, rows * 2))
    }

    /** Returns an empty segment with the capacity that this one needed. */
    def beginNext(): Segment = new Segment(math.min(MaxRows, math.max(MinCapacity, rows)))

    def takeLastOf(other: Segment): Unit = {
      val last = other.rows - 1
      numbers.addLastOf(other.numbers)
      keys.addLastOf(other.keys)
      data(0) = other.data(last)
      arrivals(0) = other.arrivals(last)
      if (other.encryption != null && other.encryption(last) != null) encrypt(other.encryption(last))
      other.removeLast()
      endRecord()
    }

    private def removeLast(): Unit = {
      rows -= 1
      bytes -= data(rows).length + keys.lastLength
      data(rows) = null
      keys.cut(rows)
      numbers.cut(rows)
    }

    def result(): RecordColumns = {
      // Columns are kept until a batch has run, so that unused space is given back.
      if (data.length - rows > rows / 4) resize(rows)
      var newest = Long.MinValue
      var i = 0
      while (i < rows) {
        newest = math.max(newest, arrivals(i))
        i += 1
      }
      new RecordColumns(rows, data, keys.result(), numbers.result(), arrivals, encryption, bytes, newest)
    }

    private def resize(size: Int): Unit = {
      data = Arrays.copyOf(data, size)
      arrivals = Arrays.copyOf(arrivals, size)
      if (encryption != null) encryption = Arrays.copyOf(encryption, size)
    }
  }
}
