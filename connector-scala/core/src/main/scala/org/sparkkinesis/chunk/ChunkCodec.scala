package org.sparkkinesis.chunk

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays
import java.util.zip.CRC32C

import scala.util.control.NoStackTrace

import org.sparkkinesis.model.packed.PackedBytes

/**
 * The bytes of consecutive chunks in a local file, with a checksum. The chunks are joined: decoding returns one chunk
 * with all their rows. Only the process that encoded the bytes decodes them, so the format has no version.
 */
private[sparkkinesis] object ChunkCodec {

  /** The bytes are not those that were encoded. */
  final class Damaged extends RuntimeException("the bytes of the chunk are damaged") with NoStackTrace

  private val Absent = -1

  /** The value of the previous row, which follows without its bytes. */
  private val Same = -2
  private val HeaderBytes = 4 + 8
  private val ChecksumBytes = 4

  /** @param chunks consecutive chunks; at least one */
  def encode(chunks: Seq[Chunk]): Array[Byte] = {
    val size = HeaderBytes + chunks.iterator.map(bodyBytes).sum + ChecksumBytes
    require(size <= Int.MaxValue, s"the chunks are too large for one block: $size bytes")
    val out = ByteBuffer.allocate(size.toInt)
    out.putInt(chunks.iterator.map(_.rows).sum).putLong(chunks.last.millisBehindLatest)
    chunks.foreach(write(_, out))
    out.putInt(checksum(out.array, out.position()))
    if (out.position() == size) out.array else Arrays.copyOf(out.array, out.position())
  }

  /** Throws [[Damaged]] if the bytes were changed. */
  def decode(bytes: Array[Byte]): Chunk = {
    val body = bytes.length - ChecksumBytes
    if (body < HeaderBytes || ByteBuffer.wrap(bytes).getInt(body) != checksum(bytes, body)) throw new Damaged
    val in = ByteBuffer.wrap(bytes, 0, body)
    val rows = in.getInt()
    val millisBehindLatest = in.getLong()
    val columns = new Columns(rows)
    while (columns.rows < rows) columns.read(in)
    Chunk.of(columns.result(), 0, rows, millisBehindLatest)
  }

  private def checksum(bytes: Array[Byte], length: Int): Int = {
    val sum = new CRC32C
    sum.update(bytes, 0, length)
    sum.getValue.toInt
  }

  /** The largest number of bytes that the rows of a chunk take. */
  private def bodyBytes(chunk: Chunk): Long = {
    var bytes = 0L
    var row = 0
    while (row < chunk.rows) {
      bytes += RowBytes + chunk.data(row).length + math.max(0, chunk.keyLength(row)) + chunk.sequenceLength(row)
      if (chunk.hasExplicitHashKey(row)) bytes += chunk.columns.explicitHashKeys.length(chunk.from + row)
      if (chunk.encryptionType(row) != null) bytes += 3L * chunk.encryptionType(row).length
      row += 1
    }
    bytes
  }

  /** Five lengths, the arrival time, the index in the aggregate, and whether there is an aggregate. */
  private val RowBytes = 5 * 4 + 8 + 8 + 1

  private def write(chunk: Chunk, out: ByteBuffer): Unit = {
    val columns = chunk.columns
    var row = chunk.from
    while (row < chunk.from + chunk.rows) {
      val isFirst = row == chunk.from
      out.putInt(columns.data(row).length).put(columns.data(row))
      write(columns.keys, row, isFirst, out)
      write(columns.sequenceNumbers, row, isFirst, out)
      write(columns.explicitHashKeys, row, isFirst, out)
      val encryption = if (columns.encryptionTypes == null) null else columns.encryptionTypes(row)
      if (encryption == null) out.putInt(Absent)
      else if (!isFirst && encryption == columns.encryptionTypes(row - 1)) out.putInt(Same)
      else {
        val text = encryption.getBytes(UTF_8)
        out.putInt(text.length).put(text)
      }
      out.putLong(columns.arrivalMillis(row))
      out.putLong(if (columns.subSequenceNumbers == null) 0 else columns.subSequenceNumbers(row))
      out.put((if (columns.aggregated != null && columns.aggregated(row)) 1 else 0).toByte)
      row += 1
    }
  }

  private def write(column: PackedBytes, row: Int, isFirst: Boolean, out: ByteBuffer): Unit =
    if (column == null || column.isNull(row)) out.putInt(Absent): Unit
    else if (!isFirst && column.start(row) == column.start(row - 1) && column.length(row) == column.length(row - 1))
      out.putInt(Same): Unit
    else out.putInt(column.length(row)).put(column.bytes, column.start(row), column.length(row)): Unit

  /** Collects decoded rows. Columns that are rarely used exist if a row has a value. */
  final private class Columns(expected: Int) {
    private val data = new Array[Array[Byte]](expected)
    private val arrivals = new Array[Long](expected)
    private val keys = new PackedBytes.Builder(expected, expected * 16)
    private val numbers = new PackedBytes.Builder(expected, expected * 16)
    private val hashKeys = new PackedBytes.Builder(expected, 16)
    private val subNumbers = new Array[Long](expected)
    private val aggregated = new Array[Boolean](expected)
    private val encryption = new Array[String](expected)
    private var hasHashKeys = false
    private var hasAggregates = false
    private var hasEncryption = false
    var rows: Int = 0

    def read(in: ByteBuffer): Unit = {
      data(rows) = new Array[Byte](in.getInt())
      in.get(data(rows))
      read(in, keys): Unit
      read(in, numbers): Unit
      hasHashKeys |= read(in, hashKeys)
      encryption(rows) = in.getInt() match {
        case Absent => null
        case Same => encryption(rows - 1)
        case length =>
          val text = new Array[Byte](length)
          in.get(text)
          new String(text, UTF_8).intern()
      }
      hasEncryption |= encryption(rows) != null
      arrivals(rows) = in.getLong()
      subNumbers(rows) = in.getLong()
      aggregated(rows) = in.get() != 0
      hasAggregates |= aggregated(rows)
      rows += 1
    }

    /** Returns whether the row has a value. */
    private def read(in: ByteBuffer, column: PackedBytes.Builder): Boolean = in.getInt() match {
      case Absent =>
        column.add(null)
        false
      case Same =>
        column.repeatLast()
        true
      case length =>
        column.add(in.array, in.position(), length)
        in.position(in.position() + length): Unit
        true
    }

    def result(): ChunkColumns = new ChunkColumns(
      data,
      keys.result(),
      numbers.result(),
      arrivals,
      if (hasAggregates) subNumbers else null,
      if (hasHashKeys) hashKeys.result() else null,
      if (hasEncryption) encryption else null,
      if (hasAggregates) aggregated else null
    )
  }
}
