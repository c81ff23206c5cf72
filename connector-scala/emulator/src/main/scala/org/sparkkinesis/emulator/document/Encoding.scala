package org.sparkkinesis.emulator.document

import java.io.OutputStream

import com.fasterxml.jackson.core.{JsonFactoryBuilder, StreamReadConstraints}
import com.fasterxml.jackson.dataformat.cbor.CBORFactory

/** The encoding of a request and its answer: `application/x-amz-json-1.1` or `application/x-amz-cbor-1.1`. */
sealed abstract class Encoding(val contentType: String) {

  /**
   * Reads one object.
   *
   * @throws org.sparkkinesis.emulator.engine.error.ServiceError
   *   SerializationException if the bytes are not one object in this encoding
   */
  def parse(bytes: Array[Byte], offset: Int, length: Int): Fields

  /** Writes one complete answer to `out`. */
  def write(out: OutputStream)(body: ReplyWriter => Unit): Unit
}

object Encoding {

  // A record of 10 MiB takes 14 MiB as base64.
  private val MaxStringLength = 20 * 1024 * 1024
  private val constraints = StreamReadConstraints.builder.maxStringLength(MaxStringLength).build

  case object Json extends Encoding("application/x-amz-json-1.1") {
    private val factory = new JsonFactoryBuilder().streamReadConstraints(constraints).build()

    override def parse(bytes: Array[Byte], offset: Int, length: Int): Fields =
      FieldsParser.parse(() => factory.createParser(bytes, offset, length), length, millisTimestamps = false)

    override def write(out: OutputStream)(body: ReplyWriter => Unit): Unit = {
      val generator = factory.createGenerator(out)
      body(new JsonReplyWriter(generator))
      generator.close()
    }
  }

  case object Cbor extends Encoding("application/x-amz-cbor-1.1") {
    private val factory = CBORFactory.builder().streamReadConstraints(constraints).build()

    override def parse(bytes: Array[Byte], offset: Int, length: Int): Fields =
      FieldsParser.parse(() => factory.createParser(bytes, offset, length), length, millisTimestamps = true)

    override def write(out: OutputStream)(body: ReplyWriter => Unit): Unit = {
      val generator = factory.createGenerator(out)
      body(new CborReplyWriter(generator))
      generator.close()
    }
  }

  def ofContentType(contentType: String): Option[Encoding] =
    if (contentType == null) None
    else
      contentType.takeWhile(_ != ';').trim.toLowerCase match {
        case Cbor.contentType => Some(Cbor)
        case Json.contentType | "application/json" => Some(Json)
        case _ => None
      }
}
