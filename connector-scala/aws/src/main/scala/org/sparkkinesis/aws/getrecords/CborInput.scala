package org.sparkkinesis.aws.getrecords

import java.io.{EOFException, IOException}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

/**
 * Reads CBOR (RFC 8949) from the buffers of a response, forward only. It does not merge the buffers, because an array
 * of several MiB would be a humongous object for G1. Not thread-safe.
 *
 * @param buffers
 *   buffers with an accessible array; nobody may change their content
 * @param names
 *   names of the expected fields
 */
final private[aws] class CborInput(buffers: IndexedSeq[ByteBuffer], names: FieldNames) {
  import CborInput._

  private var nextBuffer = 0
  private var array: Array[Byte] = Array.emptyByteArray
  private var at = 0
  private var end = 0

  /** Number of bytes in the buffers after the current one. */
  private var later = buffers.iterator.map(_.remaining.toLong).sum

  /** Major type and additional information of the last head. */
  private var major = 0
  private var info = 0

  /**
   * Calls `field` with each name of the next map, and never if the value is null. `field` must read or skip the value.
   */
  def map(field: String => Unit): Unit = {
    var left = begin(MapType)
    while (hasMore(left)) {
      field(name())
      left -= 1
    }
  }

  /**
   * Calls `element` for each element of the next array, and never if the value is null. `element` must read or skip it.
   */
  def array(element: => Unit): Unit = {
    var left = begin(ArrayType)
    while (hasMore(left)) {
      element
      left -= 1
    }
  }

  /** Reads the next text. Returns null for a null. */
  def text(): String = {
    val length = head(TextType)
    if (length == Absent) null
    else if (length >= 0 && length <= end - at) {
      val text = new String(array, at, length.toInt, UTF_8)
      at += length.toInt
      text
    } else new String(content(TextType, length), UTF_8)
  }

  /** Reads the next byte string into a new array. Returns null for a null. */
  def bytes(): Array[Byte] = {
    val length = head(BytesType)
    if (length == Absent) null else content(BytesType, length)
  }

  /** Reads the next integer, or rounds the next floating-point number. Skips tags. Returns 0 for a null. */
  def number(): Long = {
    var value = head()
    while (major == TagType) value = head()
    major match {
      case UnsignedType => value
      case NegativeType => -1 - value
      case SimpleType if info == 26 => Math.round(java.lang.Float.intBitsToFloat(value.toInt).toDouble)
      case SimpleType if info == 27 => Math.round(java.lang.Double.longBitsToDouble(value))
      case SimpleType if isNull => 0L
      case _ => throw unexpected("a number")
    }
  }

  /** Skips the next value. */
  def skip(depth: Int = 0): Unit = {
    if (depth > MaxDepth) throw new IOException(s"CBOR is nested more than $MaxDepth levels deep")
    val value = head()
    major match {
      case BytesType | TextType => if (value >= 0) advance(value) else while (!isBreak()) skip(depth + 1)
      case ArrayType | MapType =>
        var left = if (value == Indefinite || major == ArrayType) value else value * 2
        while (hasMore(left)) {
          skip(depth + 1)
          left -= 1
        }
      case TagType => skip(depth + 1)
      case _ => ()
    }
  }

  private def name(): String = {
    val length = head(TextType)
    if (length < 0 || length > end - at) new String(content(TextType, length), UTF_8)
    else {
      val known = names.at(array, at, length.toInt)
      val name = if (known != null) known else new String(array, at, length.toInt, UTF_8)
      at += length.toInt
      name
    }
  }

  /** Number of elements that follow, [[CborInput.Indefinite]] if it is not known, or 0 for a null. */
  private def begin(wanted: Int): Long = {
    val count = head(wanted)
    if (count == Absent) 0 else count
  }

  private def hasMore(left: Long): Boolean = if (left >= 0) left > 0 else !isBreak()

  /** Reads the break byte that ends a value of indefinite length, if it is next. */
  private def isBreak(): Boolean = {
    fill()
    val ends = (array(at) & 0xff) == Break
    if (ends) at += 1
    ends
  }

  /** Content of a string after its head: one piece, or several pieces until a break. */
  private def content(kind: Int, length: Long): Array[Byte] =
    if (length >= 0) take(length)
    else {
      val pieces = new java.io.ByteArrayOutputStream
      while (!isBreak()) pieces.writeBytes(take(head(kind)))
      pieces.toByteArray
    }

  private def take(length: Long): Array[Byte] = {
    if (length < 0 || length > end - at + later)
      throw new EOFException(s"CBOR announces $length bytes and ends before them")
    val taken = new Array[Byte](length.toInt)
    var done = 0
    while (done < taken.length) {
      fill()
      val count = math.min(taken.length - done, end - at)
      System.arraycopy(array, at, taken, done, count)
      at += count
      done += count
    }
    taken
  }

  private def advance(length: Long): Unit = {
    var left = length
    while (left > 0) {
      fill()
      val count = math.min(left, (end - at).toLong).toInt
      at += count
      left -= count
    }
  }

  /**
   * Reads the next head, which must have type `wanted`, and returns its value, or [[CborInput.Absent]] for a null.
   * Skips tags.
   */
  private def head(wanted: Int): Long = {
    var value = head()
    while (major == TagType) value = head()
    if (major == wanted) value else if (isNull) Absent else throw unexpected(s"type $wanted")
  }

  /** Reads the next head and returns its value: a number, length, count or [[CborInput.Indefinite]]. */
  private def head(): Long = {
    val first = byte()
    major = first >>> 5
    info = first & 0x1f
    if (info < 24) info.toLong
    else if (info <= 27) {
      var value = 0L
      var i = 1 << (info - 24)
      while (i > 0) {
        value = value << 8 | byte()
        i -= 1
      }
      // Only a floating-point number uses all 64 bits.
      if (value < 0 && major != SimpleType) throw unexpected("a number of at most 63 bits")
      value
    } else if (info == 31 && major >= BytesType && major <= MapType) Indefinite
    else throw unexpected("a defined CBOR type")
  }

  private def byte(): Int = {
    fill()
    val value = array(at) & 0xff
    at += 1
    value
  }

  /** Moves to the next buffer when the current one has been read. */
  private def fill(): Unit = while (at == end) {
    if (nextBuffer == buffers.length) throw new EOFException("CBOR ends in the middle of a value")
    val buffer = buffers(nextBuffer)
    nextBuffer += 1
    array = buffer.array
    at = buffer.arrayOffset + buffer.position()
    end = at + buffer.remaining
    later -= buffer.remaining
  }

  private def isNull: Boolean = major == SimpleType && (info == 22 || info == 23)

  private def unexpected(wanted: String): IOException =
    new IOException(s"CBOR has major type $major with additional information $info, expected $wanted")
}

private object CborInput {
  private val UnsignedType = 0
  private val NegativeType = 1
  private val BytesType = 2
  private val TextType = 3
  private val ArrayType = 4
  private val MapType = 5
  private val TagType = 6
  private val SimpleType = 7
  private val Break = 0xff
  private val Indefinite = -1L
  private val Absent = -2L
  private val MaxDepth = 64
}
