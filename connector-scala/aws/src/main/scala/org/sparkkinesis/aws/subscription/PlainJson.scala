package org.sparkkinesis.aws.subscription

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII
import java.util.Base64

import scala.util.control.NoStackTrace

import org.sparkkinesis.aws.record.{FieldNames, FieldReader, RecordFields, RecordInput}
import org.sparkkinesis.model.packed.PackedBytes

/**
 * Reads a subset of JSON, forward only: known names, ASCII texts without escapes, and non-negative numbers. All other
 * input, also invalid JSON, throws [[PlainJson.Unsupported]], and the caller then uses a general parser. Not
 * thread-safe.
 */
final private[subscription] class PlainJson(source: Array[Byte], start: Int, length: Int) extends RecordInput {
  import PlainJson.Unsupported

  private val until = start + length
  private var at = start

  override def map(fields: FieldReader): Unit = if (!isNull && isNonEmpty('{', '}')) {
    var more = true
    while (more) {
      val from = quoted()
      val field = RecordFields.Names.at(source, from, at - 1 - from)
      if (field == FieldNames.Unknown) throw Unsupported
      expect(':')
      fields.read(field)
      more = hasMore('}')
    }
  }

  override def array(element: => Unit): Unit = if (!isNull && isNonEmpty('[', ']')) {
    var more = true
    while (more) {
      element
      more = hasMore(']')
    }
  }

  override def text(): String = if (isNull) null
  else {
    val from = quoted()
    new String(source, from, at - 1 - from, US_ASCII)
  }

  override def text(column: PackedBytes.Builder): Unit = if (isNull) column.add(null)
  else {
    val from = quoted()
    column.add(source, from, at - 1 - from)
  }

  override def word(): String = if (isNull) null
  else {
    val from = quoted()
    val number = RecordFields.EncryptionNames.at(source, from, at - 1 - from)
    if (number >= 0) RecordFields.EncryptionTypes(number) else new String(source, from, at - 1 - from, US_ASCII)
  }

  /** Reads and decodes the next base64 text. */
  override def bytes(): Array[Byte] = if (isNull) null
  else {
    val from = quoted()
    val decoded =
      try Base64.getDecoder.decode(ByteBuffer.wrap(source, from, at - 1 - from))
      catch { case _: IllegalArgumentException => throw Unsupported }
    if (decoded.remaining == decoded.array.length) decoded.array else throw Unsupported
  }

  override def integer(): Long = if (isNull) 0 else digits(0)

  /**
   * Reads the next number of seconds, with or without decimals and exponent. Its value in milliseconds must be an
   * integer.
   */
  override def time(): Long = if (isNull) 0
  else {
    val first = at
    var value = digits(0)
    var decimals = 0
    if (isAt('.')) {
      at += 1
      val from = at
      value = digits(value)
      decimals = at - from
    }
    val count = at - first
    var shift = 3 - decimals
    if (isAt('e') || isAt('E')) {
      at += 1
      if (isAt('+')) at += 1
      shift += digits(0).toInt
    }
    if (shift < 0 || count + shift > PlainJson.MaxDigits) throw Unsupported
    while (shift > 0) {
      value *= 10
      shift -= 1
    }
    value
  }

  /** Unknown names may have any value, so that the general parser reads the event. */
  override def skip(): Unit = throw Unsupported

  /** Checks that only white space follows. */
  def end(): Unit = if (peek() >= 0) throw Unsupported

  /** Reads digits and appends them to the number `before`. */
  private def digits(before: Long): Long = {
    val from = at
    var value = before
    while (at < until && source(at) >= '0' && source(at) <= '9') {
      value = value * 10 + (source(at) - '0')
      at += 1
    }
    if (at == from || at - from > PlainJson.MaxDigits) throw Unsupported
    value
  }

  private def isAt(wanted: Char): Boolean = at < until && source(at) == wanted

  /**
   * Reads the next text and returns the position after its opening quote. Reading continues after its closing quote.
   */
  private def quoted(): Int = {
    expect('"')
    val from = at
    var i = at
    while (i < until && source(i) >= ' ' && source(i) != '"' && source(i) != '\\') i += 1
    if (i == until || source(i) != '"') throw Unsupported
    at = i + 1
    from
  }

  /** Returns false if the object or array is empty. */
  private def isNonEmpty(open: Char, close: Char): Boolean = {
    expect(open)
    val isEmpty = peek() == close
    if (isEmpty) at += 1
    !isEmpty
  }

  private def hasMore(close: Char): Boolean = {
    val next = peek()
    if (next != ',' && next != close) throw Unsupported
    at += 1
    next == ','
  }

  private def isNull: Boolean = peek() == 'n' && {
    if (until - at < 4 || source(at + 1) != 'u' || source(at + 2) != 'l' || source(at + 3) != 'l') throw Unsupported
    at += 4
    true
  }

  private def expect(wanted: Char): Unit = if (peek() == wanted) at += 1 else throw Unsupported

  /** Returns the next byte that is not white space, without reading it, or -1 at the end. */
  private def peek(): Int = {
    while (at < until && (source(at) == ' ' || source(at) == '\n' || source(at) == '\r' || source(at) == '\t')) at += 1
    if (at < until) source(at) & 0xff else -1
  }
}

private[subscription] object PlainJson {

  /** Thrown if the input is outside the supported subset. */
  case object Unsupported extends RuntimeException with NoStackTrace

  /** Maximum number of digits that always fit a `Long`. */
  private val MaxDigits = 18
}
