package org.sparkkinesis.model.packed

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.annotation.nowarn

/**
 * The strings of many rows as UTF-8 in one array. Rows may share bytes. Access by row does not allocate.
 *
 * A length of -1 marks a null. Immutable.
 */
final class PackedBytes private (val bytes: Array[Byte], starts: Array[Int], lengths: Array[Int]) extends Serializable {
  def start(row: Int): Int = starts(row)
  def length(row: Int): Int = lengths(row)
  def isNull(row: Int): Boolean = lengths(row) < 0

  /** Returns a copy as a string, or null for a null. */
  def string(row: Int): String = if (isNull(row)) null else new String(bytes, starts(row), lengths(row), UTF_8)
}

object PackedBytes {

  /** Builds a [[PackedBytes]]. The parameters only determine the initial capacity. */
  final class Builder(expectedRows: Int, expectedBytes: Int) {
    private var bytes = new Array[Byte](math.max(expectedBytes, 16))
    private var starts = new Array[Int](math.max(expectedRows, 1))
    private var lengths = new Array[Int](math.max(expectedRows, 1))
    private var used = 0
    private var rows = 0

    def add(text: String): Unit =
      if (text == null) addRow(used, -1)
      else if (isAscii(text)) addAscii(text)
      else {
        val encoded = text.getBytes(UTF_8)
        add(encoded, 0, encoded.length)
      }

    /** Adds a text that contains only ASCII characters. */
    def addAscii(text: String): Unit = {
      reserve(text.length)
      copyAscii(text)
      addRow(used, text.length)
      used += text.length
    }

    /** Adds bytes that are already UTF-8. */
    def add(source: Array[Byte], from: Int, length: Int): Unit = {
      reserve(length)
      System.arraycopy(source, from, bytes, used, length)
      addRow(used, length)
      used += length
    }

    /** Adds a row with the value of another builder's last row. */
    def addLastOf(other: Builder): Unit =
      if (other.lengths(other.rows - 1) < 0) add(null)
      else add(other.bytes, other.starts(other.rows - 1), other.lengths(other.rows - 1))

    /** Adds a row with the same bytes as the last row, without a copy. */
    def repeatLast(): Unit = addRow(starts(rows - 1), lengths(rows - 1))

    /** Adds a row with the same bytes as `row`, without a copy. */
    def repeat(row: Int): Unit = addRow(starts(row), lengths(row))

    def size: Int = rows

    /** Removes all rows from `row` on; their bytes remain in the array. */
    def cut(row: Int): Unit = rows = math.min(rows, row)

    /** Length in bytes of the last row; 0 for a null. */
    def lastLength: Int = math.max(0, lengths(rows - 1))

    def result(): PackedBytes = {
      val isSparse = starts.length - rows > rows / 4
      new PackedBytes(
        if (bytes.length - used > used / 4) Arrays.copyOf(bytes, used) else bytes,
        if (isSparse) Arrays.copyOf(starts, rows) else starts,
        if (isSparse) Arrays.copyOf(lengths, rows) else lengths
      )
    }

    private def addRow(start: Int, length: Int): Unit = {
      if (rows == starts.length) {
        starts = Arrays.copyOf(starts, grown(rows, rows + 1))
        lengths = Arrays.copyOf(lengths, starts.length)
      }
      starts(rows) = start
      lengths(rows) = length
      rows += 1
    }

    private def reserve(count: Int): Unit =
      if (bytes.length - used < count) bytes = Arrays.copyOf(bytes, grown(bytes.length, used + count))

    private def grown(now: Int, needed: Int): Int = math.max(needed, math.min(now.toLong * 2, Int.MaxValue - 8L).toInt)

    // This deprecated method is the only one that copies the low bytes without an intermediate array.
    @nowarn("cat=deprecation")
    private def copyAscii(text: String): Unit = text.getBytes(0, text.length, bytes, used)

    private def isAscii(text: String): Boolean = {
      var i = 0
      while (i < text.length && text.charAt(i) < 0x80) i += 1
      i == text.length
    }
  }
}
