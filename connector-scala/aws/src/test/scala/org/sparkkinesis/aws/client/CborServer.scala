package org.sparkkinesis.aws.client

import java.io.ByteArrayOutputStream
import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import java.util.zip.{CRC32, GZIPOutputStream}

import scala.util.Using

import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}
import com.sun.net.httpserver.{Headers, HttpServer}

import org.sparkkinesis.event.RecordedEvents

/**
 * Gives every request the same answer.
 *
 * @param seen
 *   receives the headers and the content of each request
 */
final class CborServer(
    status: Int,
    headers: Seq[(String, String)],
    body: Array[Byte],
    seen: (Headers, Array[Byte]) => Unit = (_, _) => ()
) extends AutoCloseable {
  private val received = new AtomicInteger
  private val peers = ConcurrentHashMap.newKeySet[InetSocketAddress]
  private val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
  server.createContext(
    "/",
    exchange => {
      received.incrementAndGet()
      peers.add(exchange.getRemoteAddress)
      seen(exchange.getRequestHeaders, exchange.getRequestBody.readAllBytes())
      headers.foreach { case (name, value) => exchange.getResponseHeaders.set(name, value) }
      exchange.sendResponseHeaders(status, body.length.toLong)
      Using.resource(exchange.getResponseBody)(_.write(body))
    }
  )
  server.start()

  /** The events of the client. */
  val events = new RecordedEvents

  /** A client of the server, which is closed with it. */
  val service: SdkKinesisService = SdkClients.create(settings, events)

  def settings: ClientSettings = ClientSettings.of(
    Some("us-east-1"),
    Some(s"http://127.0.0.1:${server.getAddress.getPort}"),
    CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
  )

  /** Number of requests. */
  def requests: Int = received.get

  /** Number of connections that had a request. */
  def connections: Int = peers.size

  override def close(): Unit = {
    service.close()
    server.stop(0)
  }
}

object CborServer {
  val Cbor: (String, String) = "Content-Type" -> "application/x-amz-cbor-1.1"
  val Gzip: (String, String) = "Content-Encoding" -> "gzip"

  def cbor(write: CBORGenerator => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new CBORFactory().createGenerator(bytes))(write)
    bytes.toByteArray
  }

  def zipped(body: Array[Byte]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new GZIPOutputStream(bytes))(_.write(body))
    bytes.toByteArray
  }

  /** The header with the checksum of the content. */
  def checksum(body: Array[Byte]): (String, String) = {
    val crc = new CRC32
    crc.update(body)
    "x-amz-crc32" -> crc.getValue.toString
  }

  /** Writes a field that is nested deeper than the connector supports, but not deeper than the SDK supports. */
  def writeDeep(json: CBORGenerator): Unit = {
    json.writeFieldName("OfALaterTime")
    (1 to 100).foreach(_ => json.writeStartArray())
    (1 to 100).foreach(_ => json.writeEndArray())
  }
}
