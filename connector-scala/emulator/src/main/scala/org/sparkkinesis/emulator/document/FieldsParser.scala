package org.sparkkinesis.emulator.document

import java.io.IOException

import scala.util.control.NonFatal

import com.fasterxml.jackson.core.{JsonParser, JsonToken}

import org.sparkkinesis.emulator.engine.error.ServiceError

/** Reads one object from a streaming parser into [[Fields]] in one pass, without interpreting it. */
private[document] object FieldsParser {
  private val InitialMembers = 4

  def parse(open: () => JsonParser, length: Int, millisTimestamps: Boolean): Fields =
    if (length == 0) Fields.Empty
    else
      try {
        val parser = open()
        try {
          if (parser.nextToken() != JsonToken.START_OBJECT)
            throw ServiceError.serialization("Unexpected start of the request")
          val fields = structure(parser, millisTimestamps)
          if (parser.nextToken() != null) throw ServiceError.serialization("Unexpected content after the request")
          fields
        } finally parser.close()
      } catch {
        case e: ServiceError => throw e
        case e: IOException => throw ServiceError.serialization(s"The request cannot be read: ${firstLine(e)}")
        // Parsers may throw other exceptions for malformed bytes; callers get the same error for all of them.
        case NonFatal(e) => throw ServiceError.serialization(s"The request cannot be read: ${firstLine(e)}")
      }

  private def firstLine(e: Throwable): String = String.valueOf(e.getMessage).linesIterator.nextOption().getOrElse("")

  private def structure(parser: JsonParser, millis: Boolean): Fields = {
    var names = new Array[String](InitialMembers)
    var values = new Array[Any](InitialMembers)
    var count = 0
    var token = parser.nextToken()
    while (token == JsonToken.FIELD_NAME) {
      if (count == names.length) {
        names = java.util.Arrays.copyOf(names, count * 2)
        values = Array.copyOf(values, count * 2)
      }
      names(count) = parser.currentName()
      parser.nextToken()
      values(count) = value(parser, millis)
      count += 1
      token = parser.nextToken()
    }
    if (token != JsonToken.END_OBJECT) throw ServiceError.serialization("Unexpected end of the request")
    new Fields(names, values, count, millis)
  }

  private def list(parser: JsonParser, millis: Boolean): Vector[Any] = {
    val items = Vector.newBuilder[Any]
    var token = parser.nextToken()
    while (token != JsonToken.END_ARRAY) {
      if (token == null) throw ServiceError.serialization("Unexpected end of the request")
      items += value(parser, millis)
      token = parser.nextToken()
    }
    items.result()
  }

  private def value(parser: JsonParser, millis: Boolean): Any = parser.currentToken() match {
    case JsonToken.VALUE_STRING => parser.getText
    case JsonToken.VALUE_EMBEDDED_OBJECT => parser.getBinaryValue
    case JsonToken.VALUE_NUMBER_INT =>
      if (parser.getNumberType == JsonParser.NumberType.BIG_INTEGER) parser.getBigIntegerValue
      else java.lang.Long.valueOf(parser.getLongValue)
    case JsonToken.VALUE_NUMBER_FLOAT => java.lang.Double.valueOf(parser.getDoubleValue)
    case JsonToken.VALUE_TRUE => java.lang.Boolean.TRUE
    case JsonToken.VALUE_FALSE => java.lang.Boolean.FALSE
    case JsonToken.VALUE_NULL => null
    case JsonToken.START_OBJECT => structure(parser, millis)
    case JsonToken.START_ARRAY => list(parser, millis)
    case other => throw ServiceError.serialization(s"Unexpected $other in the request")
  }
}
