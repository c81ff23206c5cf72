package org.sparkkinesis.emulator.kit

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonToken}

/** Calls an emulator with JSON 1.1 through the JDK's HTTP client. */
final class JsonClient(endpoint: String) {
  import JsonClient._

  private val http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

  def call(operation: String, body: String, headers: (String, String)*): Reply =
    callTarget(s"Kinesis_20131202.$operation", body, headers: _*)

  /** Calls an operation of Amazon Data Firehose. */
  def firehose(operation: String, body: String, headers: (String, String)*): Reply =
    callTarget(s"Firehose_20150804.$operation", body, headers: _*)

  private def callTarget(target: String, body: String, headers: (String, String)*): Reply = {
    val request = HttpRequest
      .newBuilder(URI.create(s"$endpoint/"))
      .header("Content-Type", "application/x-amz-json-1.1")
      .header("X-Amz-Target", target)
      .POST(HttpRequest.BodyPublishers.ofString(body))
    headers.foreach { case (name, value) => request.header(name, value) }
    send(request.build())
  }

  def ok(operation: String, body: String): Any = {
    val reply = call(operation, body)
    assert(reply.status == 200, s"$operation answered ${reply.status} ${reply.text}")
    reply.json
  }

  def admin(method: String, path: String, body: String = ""): Any = {
    val reply = page(method, s"/_emulator/$path", body, "Content-Type" -> "application/json")
    assert(reply.status == 200, s"$method $path answered ${reply.status} ${reply.text}")
    reply.json
  }

  def page(method: String, path: String, body: String, headers: (String, String)*): Reply = {
    val request = HttpRequest.newBuilder(URI.create(s"$endpoint$path"))
    headers.foreach { case (name, value) => request.header(name, value) }
    send(request.method(method, HttpRequest.BodyPublishers.ofString(body)).build())
  }

  private def send(request: HttpRequest): Reply = {
    val response = http.send(request, HttpResponse.BodyHandlers.ofByteArray())
    val headers = response.headers.map.asScala.map { case (name, values) => name.toLowerCase -> values.get(0) }.toMap
    Reply(response.statusCode, new String(response.body, UTF_8), headers)
  }
}

object JsonClient {
  final case class Reply(status: Int, text: String, headers: Map[String, String] = Map.empty) {
    def json: Any = if (text.isEmpty) Map.empty[String, Any] else parse(text)
    def errorType: String = json.asInstanceOf[Map[String, Any]].getOrElse("__type", "").toString
  }

  def base64(text: String): String = Base64.getEncoder.encodeToString(text.getBytes(UTF_8))

  def parse(text: String): Any = {
    val parser = new JsonFactory().createParser(text)
    parser.nextToken()
    value(parser)
  }

  private def value(parser: JsonParser): Any = parser.currentToken match {
    case JsonToken.START_OBJECT =>
      Iterator
        .continually(parser.nextToken())
        .takeWhile(_ != JsonToken.END_OBJECT)
        .map { _ =>
          val name = parser.currentName
          parser.nextToken()
          name -> value(parser)
        }
        .toMap
    case JsonToken.START_ARRAY =>
      Iterator.continually(parser.nextToken()).takeWhile(_ != JsonToken.END_ARRAY).map(_ => value(parser)).toVector
    case JsonToken.VALUE_STRING => parser.getText
    case JsonToken.VALUE_NUMBER_INT => parser.getLongValue
    case JsonToken.VALUE_NUMBER_FLOAT => parser.getDoubleValue
    case JsonToken.VALUE_TRUE => true
    case JsonToken.VALUE_FALSE => false
    case _ => null
  }

  /** Returns a part of a result of `parse`: names select members of objects, numbers select items of arrays. */
  def at(json: Any, path: Any*): Any = path.foldLeft(json) {
    case (fields: Map[_, _], name: String) => fields.asInstanceOf[Map[String, Any]].getOrElse(name, null)
    case (items: Vector[_], i: Int) => items(i)
    case (other, step) => throw new AssertionError(s"no $step in $other")
  }
}
