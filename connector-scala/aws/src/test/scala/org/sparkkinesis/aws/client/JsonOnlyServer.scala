package org.sparkkinesis.aws.client

import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.{HttpClient, HttpRequest}
import java.net.{InetAddress, InetSocketAddress, URI}
import java.util.concurrent.{ConcurrentLinkedQueue, Executors}

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.sun.net.httpserver.{HttpExchange, HttpServer}

import org.sparkkinesis.aws.http.DaemonThreads

/** Passes requests in JSON on to an emulator, and answers those in CBOR as a server that supports only JSON. */
final class JsonOnlyServer(emulator: String, answerToCbor: JsonOnlyServer.Answer) extends AutoCloseable {
  private val client = HttpClient.newHttpClient()
  private val seen = new ConcurrentLinkedQueue[(String, String)]
  private val threads = Executors.newCachedThreadPool(DaemonThreads.named("json-only"))
  private val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
  server.setExecutor(threads)
  server.createContext("/", answer(_))
  server.start()

  def endpoint: String = s"http://127.0.0.1:${server.getAddress.getPort}"

  /** Operation and content type of each request, in order. */
  def requests: Seq[(String, String)] = seen.asScala.toVector

  private def answer(exchange: HttpExchange): Unit = {
    val headers = exchange.getRequestHeaders
    val kind = headers.getFirst("Content-Type")
    val body = exchange.getRequestBody.readAllBytes()
    seen.add(headers.getFirst("X-Amz-Target").split('.').last -> kind)
    if (kind.contains("cbor")) send(exchange, answerToCbor)
    else {
      val request = HttpRequest.newBuilder(URI.create(emulator)).POST(BodyPublishers.ofByteArray(body))
      Seq("Content-Type", "X-Amz-Target", "Authorization", "X-Amz-Date").foreach(h =>
        request.header(h, headers.getFirst(h))
      )
      val response = client.send(request.build(), BodyHandlers.ofByteArray)
      val answerType = response.headers.firstValue("Content-Type").orElse("")
      send(exchange, JsonOnlyServer.Answer(response.statusCode, answerType, response.body))
    }
  }

  private def send(exchange: HttpExchange, answer: JsonOnlyServer.Answer): Unit = {
    exchange.getResponseHeaders.set("Content-Type", answer.contentType)
    exchange.sendResponseHeaders(answer.status, if (answer.body.isEmpty) -1 else answer.body.length.toLong)
    Using.resource(exchange.getResponseBody)(_.write(answer.body))
  }

  override def close(): Unit = {
    server.stop(0)
    threads.shutdownNow()
    ()
  }
}

object JsonOnlyServer {
  final case class Answer(status: Int, contentType: String, body: Array[Byte])
}
