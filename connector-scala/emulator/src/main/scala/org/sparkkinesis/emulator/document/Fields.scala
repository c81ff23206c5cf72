package org.sparkkinesis.emulator.document

import java.util.Base64

import org.sparkkinesis.emulator.engine.error.ServiceError

/**
 * The members of a request in their order. Names and values are in two arrays, since requests are small.
 *
 * Values are String, java.lang.Long, java.lang.Double, java.math.BigInteger, java.lang.Boolean, Array[Byte],
 * [[Fields]], Vector, or null. Reading a value as the wrong type throws a SerializationException, as the service
 * does.
 *
 * @param millisTimestamps
 *   whether timestamps are in milliseconds (CBOR) or in seconds (JSON)
 */
final class Fields(names: Array[String], values: Array[Any], count: Int, millisTimestamps: Boolean) {
  import Fields._

  def get(name: String): Any = {
    var i = 0
    while (i < count && names(i) != name) i += 1
    if (i < count) values(i) else null
  }

  def entries: Seq[(String, Any)] = (0 until count).map(i => (names(i), values(i)))
  def has(name: String): Boolean = get(name) != null

  def string(name: String): Option[String] = get(name) match {
    case null => None
    case text: String => Some(text)
    case other => throw wrongType(name, other, "String")
  }

  def long(name: String): Option[Long] = get(name) match {
    case null => None
    case number: java.lang.Long => Some(number)
    case other => throw wrongType(name, other, "Long")
  }

  def int(name: String): Option[Int] = long(name).map { number =>
    if (number.isValidInt) number.toInt else throw wrongType(name, number, "Integer")
  }

  def boolean(name: String): Option[Boolean] = get(name) match {
    case null => None
    case value: java.lang.Boolean => Some(value)
    case other => throw wrongType(name, other, "Boolean")
  }

  /** Returns a timestamp in epoch milliseconds. */
  def timestamp(name: String): Option[Long] = {
    val scale = if (millisTimestamps) 1.0 else 1000.0
    get(name) match {
      case null => None
      case number: java.lang.Long => Some((number * scale).toLong)
      case number: java.lang.Double => Some(math.round(number * scale))
      case other => throw wrongType(name, other, "Timestamp")
    }
  }

  /** Returns a blob: bytes in CBOR, base64 text in JSON; null if it is missing. */
  def blob(name: String): Array[Byte] = get(name) match {
    case null => null
    case bytes: Array[Byte] => bytes
    case text: String =>
      try Base64.getDecoder.decode(text)
      catch {
        case _: IllegalArgumentException => throw ServiceError.serialization(s"$name is not a valid base64 string")
      }
    case other => throw wrongType(name, other, "ByteBuffer")
  }

  def structure(name: String): Option[Fields] = get(name) match {
    case null => None
    case fields: Fields => Some(fields)
    case other => throw wrongType(name, other, "Structure")
  }

  def structures(name: String): Option[Vector[Fields]] = list(name).map(_.map {
    case fields: Fields => fields
    case other => throw wrongType(name, other, "Structure")
  })

  def strings(name: String): Option[Vector[String]] = list(name).map(_.map {
    case text: String => text
    case other => throw wrongType(name, other, "String")
  })

  private def list(name: String): Option[Vector[Any]] = get(name) match {
    case null => None
    case items: Vector[?] => Some(items)
    case other => throw wrongType(name, other, "List")
  }
}

object Fields {
  val Empty: Fields = new Fields(Array.empty, Array.empty, 0, false)

  private def wrongType(name: String, value: Any, expected: String): ServiceError = {
    val found = value match {
      case null => "NULL_VALUE"
      case _: String => "STRING_VALUE"
      case _: java.lang.Boolean => if (value == true) "TRUE_VALUE" else "FALSE_VALUE"
      case _: Fields => "START_OBJECT"
      case _: Vector[?] => "START_ARRAY"
      case _: Array[Byte] => "BYTES_VALUE"
      case _: java.lang.Double => "DECIMAL_VALUE"
      case _ => "NUMBER_VALUE"
    }
    ServiceError.serialization(s"$found at $name can not be converted to $expected")
  }
}
