package org.sparkkinesis.aws.record

import java.io.{ByteArrayOutputStream, EOFException, IOException, InputStream}
import java.nio.charset.StandardCharsets.UTF_8

import org.sparkkinesis.model.packed.PackedBytes

/** The bytes of a response are not what this package supports. The SDK may be able to read the response. */
final private[aws] class UnreadableAnswer(message: String) extends IOException(message)

/**
 * Reads CBOR (RFC 8949) from the stream of a response, forward only. It does not collect the response, because an array
 * of several MiB would be a humongous object for G1. Not thread-safe.
 *
 * Its methods throw [[UnreadableAnswer]] for bytes that are not complete and valid CBOR of the expected types, and pass
 * on the errors of the stream.
 *
 * @param length
 *   number of bytes in the stream, or a negative number if it is unknown
 * @param buffer
 *   memory for the bytes that are read in advance
 */
final private[aws] class CborInput(in: InputStream, length: Long, buffer: Array[Byte]) extends RecordInput {
  import CborInput._

  private var at = 0
  private var end = 0

  /** Number of bytes in the stream after those in the buffer, or a larger number if it is unknown. */
  private var later = if (length < 0) Long.MaxValue else length

  /** Major type and additional information of the last head. */
  private var major = 0
  private var info = 0

  override def map(fields: FieldReader): Unit = {
    var left = begin(MapType)
    while (hasMore(left)) {
      fields.read(known(RecordFields.Names))
      left -= 1
    }
  }

  override def array(element: => Unit): Unit = {
    var left = begin(ArrayType)
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
    else if (length >= 0 && length <= end - at) {
      val text = new String(buffer, at, length.toInt, UTF_8)
      at += length.toInt
      text
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
    else if (length >= 0 && length <= end - at) {
      column.add(buffer, at, length.toInt)
      at += length.toInt
    } else {
      val bytes = content(TextType, length)
      column.add(bytes, 0, bytes.length)
    }
  }

  override def word(): String = {
    val length = head(TextType)
    if (length == Absent) null
    else if (length >= 0 && length <= end - at) {
      val number = RecordFields.EncryptionNames.at(buffer, at, length.toInt)
      val text =
        if (number >= 0) RecordFields.EncryptionTypes(number) else new String(buffer, at, length.toInt, UTF_8)
      at += length.toInt
      text
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

  /** Reads a name and returns its number. */
  private def known(names: FieldNames): Int = {
    val length = head(TextType)
    if (length < 0 || length > end - at) {
      val name = content(TextType, length)
      names.at(name, 0, name.length)
    } else {
      val number = names.at(buffer, at, length.toInt)
      at += length.toInt
      number
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
    if (length < 0 || length > MaxBytes || length - (end - at) > later)
      throw new UnreadableAnswer(s"CBOR announces $length bytes and ends before them")
    // If the length of the stream is unknown, no memory is allocated for bytes that may not come.
    if (later > MaxBytes && length > end - at + buffer.length) takePieces(length.toInt) else takeWhole(length.toInt)
  }

  private def takeWhole(length: Int): Array[Byte] = {
    val taken = new Array[Byte](length)
    var done = math.min(length, end - at)
    System.arraycopy(buffer, at, taken, 0, done)
    at += done
    // Large payloads are not copied through the buffer.
    while (length - done >= buffer.length) done += received(in.read(taken, done, length - done))
    while (done < length) {
      fill()
      val count = math.min(length - done, end - at)
      System.arraycopy(buffer, at, taken, done, count)
      at += count
      done += count
    }
    taken
  }

  private def takePieces(length: Int): Array[Byte] = {
    val pieces = new ByteArrayOutputStream
    while (pieces.size < length) {
      fill()
      val count = math.min(length - pieces.size, end - at)
      pieces.write(buffer, at, count)
      at += count
    }
    pieces.toByteArray
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
    val value = buffer(at) & 0xff
    at += 1
    value
  }

  /** Reads more bytes when those in the buffer have been read. */
  private def fill(): Unit = while (at == end) {
    at = 0
    end = 0
    end = received(in.read(buffer, 0, buffer.length))
  }

  /** @throws EOFException if the connection ended in the middle of the response */
  private def received(count: Int): Int = {
    if (count < 0) {
      if (length >= 0 && later > 0) throw new EOFException(s"The response ended $later bytes before its end")
      throw new UnreadableAnswer("CBOR ends in the middle of a value")
    }
    if (length >= 0) later -= count
    count
  }

  private def isNull: Boolean = major == SimpleType && (info == 22 || info == 23)

  private def unexpected(wanted: String): UnreadableAnswer =
    new UnreadableAnswer(s"CBOR has major type $major with additional information $info, expected $wanted")
}

private[aws] object CborInput {

  /** Reads CBOR from an array, which is not copied. */
  def of(bytes: Array[Byte]): CborInput = {
    val input = new CborInput(InputStream.nullInputStream(), 0, if (bytes.isEmpty) new Array[Byte](1) else bytes)
    input.end = bytes.length
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
