package org.sparkkinesis.network

import java.net.{InetAddress, InetSocketAddress}
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import com.sun.net.httpserver.HttpServer

/** The endpoint of a container that gives credentials to the AWS default chain, or fails. It fails at first. */
final class ContainerEndpoint extends AutoCloseable {
  @volatile private var found = Option.empty[String]
  private val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
  server.createContext(
    "/credentials",
    { exchange =>
      val now = found
      val body = now.getOrElse("{}").getBytes(UTF_8)
      exchange.sendResponseHeaders(if (now.isEmpty) 500 else 200, body.length.toLong)
      Using.resource(exchange.getResponseBody)(_.write(body))
    }
  )
  server.start()

  /** The system property that leads the default chain to this endpoint. */
  def property: (String, String) =
    "aws.containerCredentialsFullUri" -> s"http://127.0.0.1:${server.getAddress.getPort}/credentials"

  def fail(): Unit = found = None

  def give(accessKeyId: String, secretAccessKey: String, sessionToken: String): Unit = found = Some(
    s"""{"AccessKeyId": "$accessKeyId", "SecretAccessKey": "$secretAccessKey",
      "Token": "$sessionToken", "Expiration": "2100-01-01T00:00:00Z"}"""
  )

  override def close(): Unit = server.stop(0)
}
