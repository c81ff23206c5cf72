package org.sparkkinesis.aws.getrecords

import java.io.{EOFException, IOException}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

/**
 * Reads CBOR (RFC 8949) out of the buffers that an answer came in, forward only, without putting them together first: an
 * answer of megabytes in one array would be a humongous object for G1. Used by one thread.
 *
 * @param buffers
 *   backed by arrays, which nobody changes
 * @param names
 *   of the fields that are expected
 */
final private[aws] class CborInput(buffers: IndexedSeq[ByteBuffer], names: FieldNames) {
  import CborInput._

  private var nextBuffer = 0
  private var array: Array[Byte] = Array.emptyByteArray
  private var at = 0
  private var end = 0

  /** In the buffers after the present one. */
  private var later = buffers.iterator.map(_.remaining.toLong).sum

  /** Of the head that was read last. */
  private var major = 0
  private var info = 0

  /** Calls `field` with each name of the map that comes next, or never when that is null; `field` has to read the value. */
  def map(field: String => Unit): Unit = {
    var left = begin(MapType)
    while (hasMore(left)) {
      field(name())
      left -= 1
    }
  }

  /** Calls `element` for each element of the array that comes next, or never when that is null; it has to read it. */
  def array(element: => Unit): Unit = {
    var left = begin(ArrayType)
    while (hasMore(left)) {
      element
      left -= 1
    }
  }

  /** Null for a null. */
  def text(): String = {
    val length = head(TextType)
    if (length == Absent) null
    else if (length >= 0 && length <= end - at) {
      val text = new String(array, at, length.toInt, UTF_8)
      at += length.toInt
      text
    } else new String(content(TextType, length), UTF_8)
  }

  /** A fresh array; null for a null. */
  def bytes(): Array[Byte] = {
    val length = head(BytesType)
    if (length == Absent) null else content(BytesType, length)
  }

  /** An integer, or a floating point number rounded, with or without tags; 0 for a null. */
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

  /** Passes over whatever comes next. */
  def skip(depth: Int = 0): Unit = {
    if (depth > MaxDepth) throw new IOException(s"CBOR nested more than $MaxDepth deep")
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

  /** Elements that follow: a count, [[CborInput.Indefinite]], or none for a null. */
  private def begin(wanted: Int): Long = {
    val count = head(wanted)
    if (count == Absent) 0 else count
  }

  private def hasMore(left: Long): Boolean = if (left >= 0) left > 0 else !isBreak()

  /** Takes the mark that ends something of indefinite length, if that comes next. */
  private def isBreak(): Boolean = {
    fill()
    val ends = (array(at) & 0xff) == Break
    if (ends) at += 1
    ends
  }

  /** The content of a string whose head was read: in one piece, or in several up to a break. */
  private def content(kind: Int, length: Long): Array[Byte] =
    if (length >= 0) take(length)
    else {
      val pieces = new java.io.ByteArrayOutputStream
      while (!isBreak()) pieces.writeBytes(take(head(kind)))
      pieces.toByteArray
    }

  private def take(length: Long): Array[Byte] = {
    if (length < 0 || length > end - at + later)
      throw new EOFException(s"CBOR ends before $length bytes that it announces")
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

  /** The value in the head of something of this type, or [[CborInput.Absent]] for a null. Tags are passed over. */
  private def head(wanted: Int): Long = {
    var value = head()
    while (major == TagType) value = head()
    if (major == wanted) value else if (isNull) Absent else throw unexpected(s"type $wanted")
  }

  /** The value in the next head: a number, length, count or [[CborInput.Indefinite]]. */
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
      // Only a floating point number uses all bits.
      if (value < 0 && major != SimpleType) throw unexpected("a number of 63 bits")
      value
    } else if (info == 31 && major >= BytesType && major <= MapType) Indefinite
    else throw unexpected("something that CBOR knows")
  }

  private def byte(): Int = {
    fill()
    val value = array(at) & 0xff
    at += 1
    value
  }

  /** Goes on to the next buffer when this one is used up. */
  private def fill(): Unit = while (at == end) {
    if (nextBuffer == buffers.length) throw new EOFException("CBOR ends too early")
    val buffer = buffers(nextBuffer)
    nextBuffer += 1
    array = buffer.array
    at = buffer.arrayOffset + buffer.position()
    end = at + buffer.remaining
    later -= buffer.remaining
  }

  private def isNull: Boolean = major == SimpleType && (info == 22 || info == 23)

  private def unexpected(wanted: String): IOException =
    new IOException(s"CBOR has type $major with $info where $wanted was expected")
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
