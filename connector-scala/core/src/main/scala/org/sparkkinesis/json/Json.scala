package org.sparkkinesis.json

import java.io.StringWriter

import scala.collection.immutable.VectorMap

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator, JsonParser, JsonProcessingException, JsonToken}

/** A JSON value, for small documents such as offsets. */
sealed trait Json {
  def field(name: String): Option[Json] = None
  def asString: Option[String] = None
  def asLong: Option[Long] = None
}

object Json {
  case object Null extends Json
  final case class Bool(value: Boolean) extends Json
  final case class Num(value: BigDecimal) extends Json {
    override def asLong: Option[Long] = Option.when(value.isValidLong)(value.toLong)
  }
  final case class Str(value: String) extends Json {
    override def asString: Option[String] = Some(value)
  }
  final case class Arr(items: Vector[Json]) extends Json
  final case class Obj(fields: VectorMap[String, Json]) extends Json {
    override def field(name: String): Option[Json] = fields.get(name)
  }

  def obj(fields: (String, Json)*): Obj = Obj(VectorMap(fields: _*))
  def num(value: Long): Num = Num(BigDecimal(value))

  private val factory = new JsonFactory().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)

  /** Parses one document. `Left` contains the position and the reason if the text is not JSON. */
  def parse(text: String): Either[String, Json] = {
    val parser = factory.createParser(text)
    try
      if (parser.nextToken() == null) Left("empty document")
      else {
        val value = read(parser)
        if (parser.nextToken() == null) Right(value)
        else Left(s"trailing content after the document at ${at(parser)}")
      }
    catch {
      case e: JsonProcessingException =>
        Left(s"${e.getOriginalMessage} at line ${e.getLocation.getLineNr}, column ${e.getLocation.getColumnNr}")
    } finally parser.close()
  }

  private def at(parser: JsonParser): String = {
    val location = parser.currentLocation()
    s"line ${location.getLineNr}, column ${location.getColumnNr}"
  }

  private def read(parser: JsonParser): Json = parser.currentToken() match {
    case JsonToken.START_OBJECT =>
      val fields = VectorMap.newBuilder[String, Json]
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        val name = parser.currentName()
        parser.nextToken()
        fields += name -> read(parser)
      }
      Obj(fields.result())
    case JsonToken.START_ARRAY =>
      val items = Vector.newBuilder[Json]
      while (parser.nextToken() != JsonToken.END_ARRAY) items += read(parser)
      Arr(items.result())
    case JsonToken.VALUE_STRING => Str(parser.getText)
    case JsonToken.VALUE_NUMBER_INT | JsonToken.VALUE_NUMBER_FLOAT => Num(BigDecimal(parser.getDecimalValue))
    case JsonToken.VALUE_TRUE => Bool(true)
    case JsonToken.VALUE_FALSE => Bool(false)
    case _ => Null
  }

  /** Writes JSON without white space and with the fields in their order. */
  def render(value: Json): String = {
    val out = new StringWriter()
    val generator = factory.createGenerator(out)
    write(generator, value)
    generator.close()
    out.toString
  }

  private def write(generator: JsonGenerator, value: Json): Unit = value match {
    case Null => generator.writeNull()
    case Bool(b) => generator.writeBoolean(b)
    case Num(n) => generator.writeNumber(n.bigDecimal)
    case Str(s) => generator.writeString(s)
    case Arr(items) =>
      generator.writeStartArray()
      items.foreach(write(generator, _))
      generator.writeEndArray()
    case Obj(fields) =>
      generator.writeStartObject()
      fields.foreach { case (name, item) =>
        generator.writeFieldName(name)
        write(generator, item)
      }
      generator.writeEndObject()
  }
}
