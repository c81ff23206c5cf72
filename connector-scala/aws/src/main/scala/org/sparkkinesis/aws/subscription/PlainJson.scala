package org.sparkkinesis.aws.subscription

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII
import java.util.Base64

import scala.util.control.NoStackTrace

import org.sparkkinesis.aws.getrecords.FieldNames

/**
 * Reads a part of JSON, forward only: known names, texts of ASCII without escapes, numbers that are not negative. Whatever is not that,
 * also what is no JSON, ends in [[PlainJson.Other]]: somebody else has to read it. Used by one thread.
 */
final private[subscription] class PlainJson(bytes: Array[Byte], start: Int, length: Int, names: FieldNames) {
  import PlainJson.Other

  private val until = start + length
  private var at = start

  /** Calls `field` with each name of the object that comes next, or never when that is null; it has to read the value. */
  def map(field: String => Unit): Unit = if (!isNull && opens('{', '}')) {
    var more = true
    while (more) {
      val from = quoted()
      val name = names.at(bytes, from, at - 1 - from)
      if (name == null) throw Other
      expect(':')
      field(name)
      more = goesOn('}')
    }
  }

  /** Calls `element` for each element of the array that comes next, or never when that is null; it has to read it. */
  def array(element: => Unit): Unit = if (!isNull && opens('[', ']')) {
    var more = true
    while (more) {
      element
      more = goesOn(']')
    }
  }

  /** Null for a null. */
  def text(): String = if (isNull) null
  else {
    val from = quoted()
    new String(bytes, from, at - 1 - from, US_ASCII)
  }

  /** The bytes that are written in base64; null for a null. */
  def binary(): Array[Byte] = if (isNull) null
  else {
    val from = quoted()
    val decoded =
      try Base64.getDecoder.decode(ByteBuffer.wrap(bytes, from, at - 1 - from))
      catch { case _: IllegalArgumentException => throw Other }
    if (decoded.remaining == decoded.array.length) decoded.array else throw Other
  }

  /** 0 for a null. */
  def integer(): Long = if (isNull) 0 else digits(0)

  /** A number times 1000, with or without decimals and exponent, when that is an integer; 0 for a null. */
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
    if (shift < 0 || count + shift > PlainJson.MaxDigits) throw Other
    while (shift > 0) {
      value *= 10
      shift -= 1
    }
    value
  }

  /** Nothing but white space may follow. */
  def end(): Unit = if (peek() >= 0) throw Other

  /** Digits that go on after `before`. */
  private def digits(before: Long): Long = {
    val from = at
    var value = before
    while (at < until && bytes(at) >= '0' && bytes(at) <= '9') {
      value = value * 10 + (bytes(at) - '0')
      at += 1
    }
    if (at == from || at - from > PlainJson.MaxDigits) throw Other
    value
  }

  private def isAt(wanted: Char): Boolean = at < until && bytes(at) == wanted

  /** Where the text begins that comes next; the place after its closing quote is where reading goes on. */
  private def quoted(): Int = {
    expect('"')
    val from = at
    var i = at
    while (i < until && bytes(i) >= ' ' && bytes(i) != '"' && bytes(i) != '\\') i += 1
    if (i == until || bytes(i) != '"') throw Other
    at = i + 1
    from
  }

  /** False for an object or array without anything in it. */
  private def opens(open: Char, close: Char): Boolean = {
    expect(open)
    val isEmpty = peek() == close
    if (isEmpty) at += 1
    !isEmpty
  }

  private def goesOn(close: Char): Boolean = {
    val next = peek()
    if (next != ',' && next != close) throw Other
    at += 1
    next == ','
  }

  private def isNull: Boolean = peek() == 'n' && {
    if (until - at < 4 || bytes(at + 1) != 'u' || bytes(at + 2) != 'l' || bytes(at + 3) != 'l') throw Other
    at += 4
    true
  }

  private def expect(wanted: Char): Unit = if (peek() == wanted) at += 1 else throw Other

  /** The next byte that is no white space, which stays the next; -1 at the end. */
  private def peek(): Int = {
    while (at < until && (bytes(at) == ' ' || bytes(at) == '\n' || bytes(at) == '\r' || bytes(at) == '\t')) at += 1
    if (at < until) bytes(at) & 0xff else -1
  }
}

private[subscription] object PlainJson {

  /** What is there is not what this reads. */
  case object Other extends RuntimeException with NoStackTrace

  /** As many as a `Long` surely holds. */
  private val MaxDigits = 18
}
