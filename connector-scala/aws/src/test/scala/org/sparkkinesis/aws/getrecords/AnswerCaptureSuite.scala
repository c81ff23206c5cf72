package org.sparkkinesis.aws.getrecords

import java.io.ByteArrayOutputStream
import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.zip.{CRC32, GZIPOutputStream}

import scala.util.Using

import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}
import com.sun.net.httpserver.HttpServer

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, SdkClients}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.suite.TimedSuite

/** Every GetRecords response is decoded, by this package or by the SDK. */
class AnswerCaptureSuite extends TimedSuite {
  private val Cbor = "Content-Type" -> "application/x-amz-cbor-1.1"

  private def answer(more: CBORGenerator => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new CBORFactory().createGenerator(bytes)) { json =>
      json.writeStartObject()
      json.writeArrayFieldStart("Records")
      json.writeStartObject()
      json.writeStringField("SequenceNumber", "17")
      json.writeStringField("PartitionKey", "key")
      json.writeFieldName("Data")
      json.writeBinary(Array[Byte](1, 2, 3))
      json.writeEndObject()
      json.writeEndArray()
      more(json)
      json.writeStringField("NextShardIterator", "next")
      json.writeEndObject()
    }
    bytes.toByteArray
  }

  private val plain = answer(_ => ())

  /** Nested deeper than this package supports, but not deeper than the SDK supports. */
  private val strange = answer { json =>
    json.writeFieldName("OfALaterTime")
    (1 to 100).foreach(_ => json.writeStartArray())
    (1 to 100).foreach(_ => json.writeEndArray())
  }

  private def zipped(body: Array[Byte]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new GZIPOutputStream(bytes))(_.write(body))
    bytes.toByteArray
  }

  private def checksum(body: Array[Byte]): (String, String) = {
    val crc = new CRC32
    crc.update(body)
    "x-amz-crc32" -> crc.getValue.toString
  }

  Seq[(String, Seq[(String, String)], Array[Byte], Int)](
    ("CBOR", Seq(Cbor), plain, 1),
    ("CBOR with its checksum", Seq(Cbor, checksum(plain)), plain, 1),
    ("CBOR that is compressed", Seq(Cbor, "Content-Encoding" -> "gzip"), zipped(plain), 1),
    ("CBOR that only the SDK reads", Seq(Cbor, checksum(strange)), strange, 2)
  ).foreach { case (what, headers, body, calls) =>
    test(s"$what is decoded with ${if (calls == 1) "one request" else "two requests"}") {
      val asked = new AtomicInteger
      val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
      server.createContext(
        "/",
        exchange => {
          asked.incrementAndGet()
          exchange.getRequestBody.readAllBytes()
          headers.foreach { case (name, value) => exchange.getResponseHeaders.set(name, value) }
          exchange.sendResponseHeaders(200, body.length.toLong)
          Using.resource(exchange.getResponseBody)(_.write(body))
        }
      )
      server.start()
      val endpoint = s"http://127.0.0.1:${server.getAddress.getPort}"
      val credentials = CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
      val service = SdkClients.create(ClientSettings.of(Some("us-east-1"), Some(endpoint), credentials))
      try {
        val page = service.getRecords(StreamRef.ByName("any"), "first", 10).get(30, TimeUnit.SECONDS)
        assert(
          page.records.map(record => (record.sequenceNumber, record.partitionKey)) ==
            IndexedSeq("17" -> "key")
        )
        assert(page.records.head.data.toSeq == Seq[Byte](1, 2, 3))
        assert((page.nextIterator, page.millisBehindLatest, page.children) == (Option("next"), 0L, Nil))
        assert(asked.get == calls)
      } finally {
        service.close()
        server.stop(0)
      }
    }
  }
}
