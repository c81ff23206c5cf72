package org.sparkkinesis.aws.subscription

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII
import java.util.Base64

import scala.util.control.NoStackTrace

import org.sparkkinesis.aws.getrecords.FieldNames

/**
 * Reads a subset of JSON, forward only: known names, ASCII texts without escapes, and non-negative numbers. All other
 * input, also invalid JSON, throws [[PlainJson.Unsupported]], and the caller then uses a general parser. Not
 * thread-safe.
 */
final private[subscription] class PlainJson(bytes: Array[Byte], start: Int, length: Int, names: FieldNames) {
  import PlainJson.Unsupported

  private val until = start + length
  private var at = start

  /** Calls `field` with each name of the next object, and never if the value is null. `field` must read the value. */
  def map(field: String => Unit): Unit = if (!isNull && isNonEmpty('{', '}')) {
    var more = true
    while (more) {
      val from = quoted()
      val name = names.at(bytes, from, at - 1 - from)
      if (name == null) throw Unsupported
      expect(':')
      field(name)
      more = hasMore('}')
    }
  }

  /** Calls `element` for each element of the next array, and never if the value is null. `element` must read it. */
  def array(element: => Unit): Unit = if (!isNull && isNonEmpty('[', ']')) {
    var more = true
    while (more) {
      element
      more = hasMore(']')
    }
  }

  /** Reads the next text. Returns null for a null. */
  def text(): String = if (isNull) null
  else {
    val from = quoted()
    new String(bytes, from, at - 1 - from, US_ASCII)
  }

  /** Reads and decodes the next base64 text. Returns null for a null. */
  def binary(): Array[Byte] = if (isNull) null
  else {
    val from = quoted()
    val decoded =
      try Base64.getDecoder.decode(ByteBuffer.wrap(bytes, from, at - 1 - from))
      catch { case _: IllegalArgumentException => throw Unsupported }
    if (decoded.remaining == decoded.array.length) decoded.array else throw Unsupported
  }

  /** Reads the next integer. Returns 0 for a null. */
  def integer(): Long = if (isNull) 0 else digits(0)

  /**
   * Reads the next number, with or without decimals and exponent, and returns 1000 times its value, which must be an
   * integer. Returns 0 for a null.
   */
  def thousandths(): Long = if (isNull) 0
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

  /** Checks that only white space follows. */
  def end(): Unit = if (peek() >= 0) throw Unsupported

  /** Reads digits and appends them to the number `before`. */
  private def digits(before: Long): Long = {
    val from = at
    var value = before
    while (at < until && bytes(at) >= '0' && bytes(at) <= '9') {
      value = value * 10 + (bytes(at) - '0')
      at += 1
    }
    if (at == from || at - from > PlainJson.MaxDigits) throw Unsupported
    value
  }

  private def isAt(wanted: Char): Boolean = at < until && bytes(at) == wanted

  /**
   * Reads the next text and returns the position after its opening quote. Reading continues after its closing quote.
   */
  private def quoted(): Int = {
    expect('"')
    val from = at
    var i = at
    while (i < until && bytes(i) >= ' ' && bytes(i) != '"' && bytes(i) != '\\') i += 1
    if (i == until || bytes(i) != '"') throw Unsupported
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
    if (until - at < 4 || bytes(at + 1) != 'u' || bytes(at + 2) != 'l' || bytes(at + 3) != 'l') throw Unsupported
    at += 4
    true
  }

  private def expect(wanted: Char): Unit = if (peek() == wanted) at += 1 else throw Unsupported

  /** Returns the next byte that is not white space, without reading it, or -1 at the end. */
  private def peek(): Int = {
    while (at < until && (bytes(at) == ' ' || bytes(at) == '\n' || bytes(at) == '\r' || bytes(at) == '\t')) at += 1
    if (at < until) bytes(at) & 0xff else -1
  }
}

private[subscription] object PlainJson {

  /** Thrown if the input is outside the supported subset. */
  case object Unsupported extends RuntimeException with NoStackTrace

  /** Maximum number of digits that always fit a `Long`. */
  private val MaxDigits = 18
}
