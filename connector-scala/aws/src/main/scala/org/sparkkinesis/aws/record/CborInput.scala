package org.sparkkinesis.aws.record

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.util.control.NoStackTrace

import org.sparkkinesis.model.packed.PackedBytes

/** The bytes of a response are not what this package supports. The SDK may be able to read the response. */
final private[aws] class UnreadableAnswer(message: String) extends IOException(message)

/** The bytes of a value have not all arrived. Thrown once for each piece of a response, so that it has no stack. */
private[aws] object MoreBytesNeeded extends NoStackTrace

/**
 * Reads CBOR (RFC 8949) from a range of an array, forward only. The array is not copied. Not thread-safe.
 *
 * Its methods throw [[UnreadableAnswer]] for bytes that are not valid CBOR of the expected types. If a value does not
 * end within the range, they throw [[MoreBytesNeeded]] while more bytes may follow, and [[UnreadableAnswer]] otherwise.
 *
 * @param mayContinue
 *   whether more bytes may follow those of a range
 */
final private[aws] class CborInput(mayContinue: Boolean) extends RecordInput {
  import CborInput._

  private var buffer: Array[Byte] = Array.emptyByteArray
  private var at = 0
  private var end = 0
  private var lacking = 0

  /** Major type and additional information of the last head. */
  private var major = 0
  private var info = 0

  /** Begins to read a range. */
  def reset(array: Array[Byte], from: Int, until: Int): Unit = {
    buffer = array
    at = from
    end = until
  }

  /** The index of the next byte in the array. */
  def position: Int = at

  /** After [[MoreBytesNeeded]], the number of bytes that are needed at least. */
  def missing: Int = lacking

  override def map(fields: FieldReader): Unit = {
    var left = beginMap()
    while (hasMore(left)) {
      fields.read(name())
      left -= 1
    }
  }

  /** Begins a map or an array, and returns how many elements follow: see [[hasMore]]. */
  def beginMap(): Long = begin(MapType)
  def beginArray(): Long = begin(ArrayType)

  /** Reads the next name of a map, and returns its number. */
  def name(): Int = {
    val length = head(TextType)
    if (length < 0) {
      val name = content(TextType, length)
      RecordFields.Names.at(name, 0, name.length)
    } else {
      val start = pass(length)
      RecordFields.Names.at(buffer, start, length.toInt)
    }
  }

  /** Number of bytes that are left in the range. */
  def available: Int = end - at

  /**
   * Begins the next value if it is a byte string of more than `least` bytes that does not end within the range.
   * Otherwise, reads nothing and returns -1.
   */
  def beginPartOfBytes(least: Int): Int = {
    val mark = at
    val length = head(BytesType)
    if (length > end - at && length > least && length <= MaxBytes) length.toInt
    else {
      at = mark
      -1
    }
  }

  /** Takes the next bytes of the range, at most `most`. Returns their number. */
  def take(to: Array[Byte], index: Int, most: Int): Int = {
    val count = math.min(most, end - at)
    System.arraycopy(buffer, at, to, index, count)
    at += count
    count
  }

  override def array(element: => Unit): Unit = {
    var left = beginArray()
    while (hasMore(left)) {
      element
      left -= 1
    }
  }

  override def text(): String = text(head(TextType))

  /** Reads the next text, and returns `likely` if it is equal. */
  def textOr(likely: String): String = {
    val length = head(TextType)
    if (length == likely.length && length <= end - at && isNext(likely)) {
      at += likely.length
      likely
    } else text(length)
  }

  private def text(length: Long): String =
    if (length == Absent) null
    else if (length >= 0) {
      val start = pass(length)
      new String(buffer, start, length.toInt, UTF_8)
    } else new String(content(TextType, length), UTF_8)

  /** Whether the next bytes are these characters. A character that is not ASCII is never equal to a byte. */
  private def isNext(text: String): Boolean = {
    var i = 0
    while (i < text.length && text.charAt(i) == buffer(at + i)) i += 1
    i == text.length
  }

  override def text(column: PackedBytes.Builder): Unit = {
    val length = head(TextType)
    if (length == Absent) column.add(null)
    else if (length >= 0) {
      val start = pass(length)
      column.add(buffer, start, length.toInt)
    } else {
      val bytes = content(TextType, length)
      column.add(bytes, 0, bytes.length)
    }
  }

  override def word(): String = {
    val length = head(TextType)
    if (length == Absent) null
    else if (length >= 0) {
      val start = pass(length)
      val number = RecordFields.EncryptionNames.at(buffer, start, length.toInt)
      if (number >= 0) RecordFields.EncryptionTypes(number) else new String(buffer, start, length.toInt, UTF_8)
    } else new String(content(TextType, length), UTF_8)
  }

  override def integer(): Long = number()

  /** Reads milliseconds, with or without CBOR's tag for a time. */
  override def time(): Long = number()

  override def skip(): Unit = skip(0)

  override def bytes(): Array[Byte] = {
    val length = head(BytesType)
    if (length == Absent) null else content(BytesType, length)
  }

  /** Reads the next integer, or rounds the next floating-point number. Skips tags. Returns 0 for a null. */
  private def number(): Long = {
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

  private def skip(depth: Int): Unit = {
    if (depth > MaxDepth) throw new UnreadableAnswer(s"CBOR is nested more than $MaxDepth levels deep")
    val value = head()
    major match {
      case BytesType | TextType => if (value >= 0) pass(value) else while (!isBreak()) skip(depth + 1)
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

  /** Number of elements that follow, [[CborInput.Indefinite]] if it is not known, or 0 for a null. */
  private def begin(wanted: Int): Long = {
    val count = head(wanted)
    if (count == Absent) 0 else count
  }

  /** Whether an element follows, if `left` elements are left. Reads the end of a container of indefinite length. */
  def hasMore(left: Long): Boolean = if (left >= 0) left > 0 else !isBreak()

  /** Reads the break byte that ends a value of indefinite length, if it is next. */
  private def isBreak(): Boolean = {
    need(1)
    val ends = (buffer(at) & 0xff) == Break
    if (ends) at += 1
    ends
  }

  /** Content of a string after its head: one piece, or several pieces until a break. */
  private def content(kind: Int, length: Long): Array[Byte] =
    if (length >= 0) take(length)
    else if (length == Absent) throw unexpected(s"type $kind")
    else {
      val pieces = new ByteArrayOutputStream
      while (!isBreak()) pieces.writeBytes(take(head(kind)))
      pieces.toByteArray
    }

  private def take(length: Long): Array[Byte] = {
    val start = pass(length)
    Arrays.copyOfRange(buffer, start, start + length.toInt)
  }

  /** Skips bytes, and returns the index of the first one. */
  private def pass(length: Long): Int = {
    need(length)
    val start = at
    at += length.toInt
    start
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
    need(1)
    val value = buffer(at) & 0xff
    at += 1
    value
  }

  private def need(count: Long): Unit = if (count > end - at || count < 0) {
    if (!mayContinue || count < 0 || count > MaxBytes)
      throw new UnreadableAnswer(s"CBOR ends in the middle of a value that needs $count more bytes")
    lacking = count.toInt - (end - at)
    throw MoreBytesNeeded
  }

  private def isNull: Boolean = major == SimpleType && (info == 22 || info == 23)

  private def unexpected(wanted: String): UnreadableAnswer =
    new UnreadableAnswer(s"CBOR has major type $major with additional information $info, expected $wanted")
}

private[aws] object CborInput {

  /** Reads all bytes of an array, which is not copied. */
  def of(bytes: Array[Byte]): CborInput = {
    val input = new CborInput(mayContinue = false)
    input.reset(bytes, 0, bytes.length)
    input
  }

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

  /** Longer than any payload, also if it is not valid. */
  private val MaxBytes = 1 << 30
}
