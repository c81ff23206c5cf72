package org.sparkkinesis.aws.record

import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}

import scala.annotation.nowarn

/** Writes CBOR (RFC 8949) into an array that is long enough. Not thread-safe. */
final private[aws] class CborOutput(buffer: Array[Byte]) {
  import CborOutput._

  private var at = 0

  /** Number of bytes that were written. */
  def length: Int = at

  /** The array that contains the content at its beginning. */
  def array: Array[Byte] = buffer

  def beginMap(size: Int): Unit = head(MapType, size)
  def beginArray(size: Int): Unit = head(ArrayType, size)
  def integer(value: Int): Unit = head(UnsignedType, value)

  def bytes(value: Array[Byte]): Unit = {
    head(BytesType, value.length)
    copy(value)
  }

  /** @param utf8Length number of bytes of the text in UTF-8 */
  def text(value: String, utf8Length: Int): Unit = {
    head(TextType, utf8Length)
    if (utf8Length == value.length) {
      ascii(value)
      at += utf8Length
    } else copy(value.getBytes(UTF_8))
  }

  /** @param utf8 the text in UTF-8 */
  def text(utf8: Array[Byte]): Unit = {
    head(TextType, utf8.length)
    copy(utf8)
  }

  /** Writes what [[CborOutput.name]] returned. */
  def copy(from: Array[Byte]): Unit = {
    System.arraycopy(from, 0, buffer, at, from.length)
    at += from.length
  }

  private def head(major: Int, value: Int): Unit = {
    val kind = major << 5
    if (value < 24) put(kind | value)
    else if (value < 0x100) {
      put(kind | 24)
      put(value)
    } else if (value < 0x10000) {
      put(kind | 25)
      put(value >>> 8)
      put(value)
    } else {
      put(kind | 26)
      put(value >>> 24)
      put(value >>> 16)
      put(value >>> 8)
      put(value)
    }
  }

  private def put(byte: Int): Unit = {
    buffer(at) = byte.toByte
    at += 1
  }

  // The only method that copies the characters of a string into an existing array.
  @nowarn("cat=deprecation")
  private def ascii(value: String): Unit = value.getBytes(0, value.length, buffer, at)
}

private[aws] object CborOutput {
  val ContentType: String = "application/x-amz-cbor-1.1"

  /** Maximum number of bytes before a value. */
  val LongestHead = 5

  private val UnsignedType = 0
  private val BytesType = 2
  private val TextType = 3
  private val ArrayType = 4
  private val MapType = 5

  /** Encodes a name of less than 24 ASCII characters. */
  def name(text: String): Array[Byte] = (TextType << 5 | text.length).toByte +: text.getBytes(US_ASCII)
}
