package org.sparkkinesis.integration.other

import java.net.URI
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.{HttpClient, HttpRequest}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import org.sparkkinesis.json.Json

/** Calls of the API in JSON, which every implementation supports. None of those that are tested checks signatures. */
final class JsonCalls(endpoint: String) {
  private val http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

  def call(operation: String, members: (String, Json)*): Map[String, Json] = {
    val request = HttpRequest.newBuilder(URI.create(endpoint))
      .header("Content-Type", "application/x-amz-json-1.1")
      .header("X-Amz-Target", s"Kinesis_20131202.$operation")
      // They find service and region in it.
      .header(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=test/20261126/us-east-1/kinesis/aws4_request, SignedHeaders=host, Signature=0"
      )
      .header("X-Amz-Date", "20261126T120000Z")
      .POST(BodyPublishers.ofString(Json.render(Json.obj(members: _*))))
      .build()
    val answer = http.send(request, BodyHandlers.ofString)
    assert(answer.statusCode == 200, s"$operation: HTTP ${answer.statusCode} ${answer.body}")
    Json.parse(if (answer.body.isBlank) "{}" else answer.body) match {
      case Right(Json.Obj(fields)) => fields.toMap
      case other => throw new AssertionError(s"$operation: $other")
    }
  }

  def createStream(name: String, shards: Int): Unit = {
    call("CreateStream", "StreamName" -> Json.Str(name), "ShardCount" -> Json.num(shards.toLong))
    awaitActive(name)
  }

  def awaitActive(name: String): Unit = {
    val deadline = 30.seconds.fromNow
    def isActive = call("DescribeStreamSummary", "StreamName" -> Json.Str(name))("StreamDescriptionSummary") match {
      case Json.Obj(fields) => fields.toMap.get("StreamStatus").contains(Json.Str("ACTIVE"))
      case _ => false
    }
    // These implementations tell nobody when a stream is ACTIVE.
    while (!isActive) {
      assert(deadline.hasTimeLeft(), s"$name is not ACTIVE")
      TimeUnit.MILLISECONDS.sleep(100)
    }
  }
}
