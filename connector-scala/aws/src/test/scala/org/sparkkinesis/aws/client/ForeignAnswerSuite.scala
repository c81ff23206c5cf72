package org.sparkkinesis.aws.client

import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit}

import scala.util.Using

import org.sparkkinesis.model.{ShardId, StartingPosition, StreamRef}
import org.sparkkinesis.service.ServiceErrorKind._
import org.sparkkinesis.service.{KinesisService, PutEntry, ServiceErrorKind, ServiceException, ShardFilter}
import org.sparkkinesis.suite.TimedSuite

/** Every call classifies the answers of servers that are not the service alike, and sends its request once. */
class ForeignAnswerSuite extends TimedSuite {
  private val stream = StreamRef.ByName("s")

  private val calls = Seq[(String, KinesisService => CompletableFuture[_])](
    ("DescribeStreamSummary", _.describeStream(stream)),
    ("ListShards", _.listShards(stream, ShardFilter.AtLatest, None)),
    ("ListStreams", _.listStreams(None)),
    ("GetShardIterator", _.getShardIterator(stream, ShardId.ofIndex(0), StartingPosition.Latest)),
    ("GetRecords", _.getRecords(stream, "iterator", 10)),
    ("PutRecords", _.putRecords(stream, IndexedSeq(PutEntry("k", None, Array[Byte](1))))),
    ("DescribeStreamConsumer", _.describeStreamConsumer("arn"))
  )

  private val Html = "Content-Type" -> "text/html; charset=utf-8"
  private val login = "Location" -> "http://user:pass@login.example:8443/sso?token=secret"

  private val answers = Seq[(Int, Seq[(String, String)], String, ServiceErrorKind, String)](
    (302, Seq(login, Html), "<p>Found</p>", ForeignAnswer, "redirects to http://login.example:8443 with HTTP 302"),
    (301, Nil, "", ForeignAnswer, "redirects with HTTP 301"),
    (307, Seq(login), "", ForeignAnswer, "redirects to http://login.example:8443 with HTTP 307"),
    (304, Nil, "", ForeignAnswer, "HTTP 304"),
    (200, Seq(Html), "<p>Log in</p>", ForeignAnswer, "type 'text/html'"),
    (200, Seq("Content-Type" -> "text/plain"), "hello", ForeignAnswer, "type 'text/plain'"),
    (408, Nil, "", Internal, "HTTP 408"),
    (425, Seq(Html), "<p>Too early</p>", Internal, "HTTP 425"),
    (429, Nil, "", Throttled, "HTTP 429"),
    (403, Seq(Html), "<p>Forbidden</p>", AccessDenied, "HTTP 403"),
    (404, Seq(Html), "<p>Not found</p>", InvalidArgument, "HTTP 404"),
    (502, Seq(Html), "<p>Bad gateway</p>", Internal, "HTTP 502")
  )

  private def failure(call: CompletableFuture[_]): ServiceException =
    intercept[ExecutionException](call.get(30, TimeUnit.SECONDS)).getCause.asInstanceOf[ServiceException]

  for ((status, headers, body, kind, text) <- answers)
    test(s"HTTP $status with ${headers.map(_._2).mkString("[", ", ", "]")} is $kind for every call") {
      val bytes = body.getBytes("UTF-8")
      Using.resource(new CborServer(status, headers, bytes)) { server =>
        calls.zipWithIndex.foreach { case ((operation, call), before) =>
          val error = failure(call(server.service))
          assert((operation, error.kind) == ((operation, kind)), error)
          assert(error.getMessage.contains(text), operation)
          assert(!error.getMessage.contains("secret") && !error.getMessage.contains("pass"), operation)
          assert(server.requests == before + 1, operation)
        }
      }
    }

  for (status <- Seq(200, 403))
    test(s"the answer of another server with HTTP $status does not close the connection, which the next call may use") {
      Using.resource(new CborServer(status, Seq("Content-Type" -> "text/plain"), "hello".getBytes)) { server =>
        calls.foreach { case (_, call) => failure(call(server.service)) }
        // One of our own client. Of the SDK's client, one, and another one if a call begins before the last one's end.
        assert(server.connections <= 3)
      }
    }

  test("an answer in JSON to a request in CBOR is foreign for the calls of the SDK, and not for PutRecords") {
    Using.resource(new CborServer(200, Seq("Content-Type" -> "application/x-amz-json-1.1"), "{}".getBytes)) { server =>
      calls.foreach {
        case ("PutRecords", call) => assert(call(server.service).get(30, TimeUnit.SECONDS) == IndexedSeq.empty)
        case (operation, call) =>
          assert((operation, failure(call(server.service)).kind) == ((operation, ForeignAnswer)))
      }
    }
  }
}
