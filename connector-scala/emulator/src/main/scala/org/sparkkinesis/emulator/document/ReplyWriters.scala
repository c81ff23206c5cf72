package org.sparkkinesis.emulator.document

import java.util.Base64

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator

abstract private[document] class GeneratorReplyWriter(generator: JsonGenerator) extends ReplyWriter {
  override def startObject(): Unit = generator.writeStartObject()
  override def endObject(): Unit = generator.writeEndObject()
  override def startArray(): Unit = generator.writeStartArray()
  override def endArray(): Unit = generator.writeEndArray()
  override def name(member: String): Unit = generator.writeFieldName(member)
  override def value(text: String): Unit = generator.writeString(text)
  override def value(number: Long): Unit = generator.writeNumber(number)
  override def value(flag: Boolean): Unit = generator.writeBoolean(flag)
}

/** Writes JSON 1.1: blobs as base64, timestamps as seconds with a fraction. */
final private[document] class JsonReplyWriter(generator: JsonGenerator) extends GeneratorReplyWriter(generator) {

  // The JDK's base64 encoder is vectorized and the generator's is not. Base64 needs no escaping.
  override def blobValue(bytes: Array[Byte]): Unit = {
    val text = Base64.getEncoder.encode(bytes)
    generator.writeRawUTF8String(text, 0, text.length)
  }

  override def timestampValue(epochMillis: Long): Unit =
    generator.writeNumber(java.math.BigDecimal.valueOf(epochMillis, 3).toPlainString)
}

/** Writes CBOR: blobs as byte strings, timestamps as tag 1 with integer milliseconds. */
final private[document] class CborReplyWriter(generator: CBORGenerator) extends GeneratorReplyWriter(generator) {
  override def blobValue(bytes: Array[Byte]): Unit = generator.writeBinary(bytes)

  override def timestampValue(epochMillis: Long): Unit = {
    generator.writeTag(1)
    generator.writeNumber(epochMillis)
  }
}
