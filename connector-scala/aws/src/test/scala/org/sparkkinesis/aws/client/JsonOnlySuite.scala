package org.sparkkinesis.aws.client

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.util.Using

import org.sparkkinesis.aws.client.JsonOnlyServer.Answer
import org.sparkkinesis.model.StartingPosition.TrimHorizon
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.service._

/** An endpoint that supports only JSON is read and written without a setting. */
class JsonOnlySuite extends WithEmulator {
  private val First = ShardId.ofIndex(0)
  private val entry = PutEntry("key", None, "payload".getBytes(UTF_8))

  private val answersToCbor = Seq(
    "a page with HTTP 500" -> Answer(500, "text/html; charset=utf-8", "<h1>Internal Server Error</h1>".getBytes(UTF_8)),
    "HTTP 415" -> Answer(415, "application/json", "{}".getBytes(UTF_8)),
    "HTTP 400 without content" -> Answer(400, "application/x-amz-json-1.1", Array.emptyByteArray),
    "an error in JSON" ->
      Answer(400, "application/x-amz-json-1.1", """{"__type":"SerializationException"}""".getBytes(UTF_8))
  )

  private def withServer[A](answer: Answer)(body: (JsonOnlyServer, KinesisService) => A): A =
    Using.resource(new JsonOnlyServer(emulator.endpoint, answer)) { server =>
      Using.resource(SdkClients.adaptive(settings.copy(endpoint = Some(server.endpoint))))(body(server, _))
    }

  private lazy val calls = Seq[(String, KinesisService => CompletableFuture[_])](
    "DescribeStreamSummary" -> (_.describeStream(ref("json"))),
    "ListShards" -> (_.listShards(ref("json"), ShardFilter.AtLatest, None)),
    "PutRecords" -> (_.putRecords(ref("json"), IndexedSeq(entry))),
    "GetShardIterator" -> (_.getShardIterator(ref("json"), First, TrimHorizon))
  )

  for ((what, answer) <- answersToCbor) test(s"where a request in CBOR gets $what, calls are repeated in JSON, once") {
    if (!emulator.admin.streamNames.contains("json")) emulator.admin.createStream("json", 1)
    for ((operation, call) <- calls) withServer(answer) { (server, service) =>
      await(call(service))
      await(service.listStreams(None))
      assert(server.requests == Seq(
        operation -> "application/x-amz-cbor-1.1",
        operation -> "application/x-amz-json-1.1",
        "ListStreams" -> "application/x-amz-json-1.1"
      ))
    }
    withServer(answer) { (_, service) =>
      val before = emulator.admin.recordCount("json")
      await(service.putRecords(ref("json"), IndexedSeq(entry, entry)))
      val iterator = await(service.getShardIterator(ref("json"), First, TrimHorizon))
      val page = await(service.getRecords(ref("json"), iterator, 100))
      assert(page.records.size == before + 2 && page.records.forall(record => new String(record.data) == "payload"))
    }
  }

  test("an error of the service in JSON is the error of the call, and decides as well") {
    withServer(answersToCbor.head._2) { (server, service) =>
      assert(failure(service.describeStream(ref("absent"))).kind == ServiceErrorKind.ResourceNotFound)
      await(service.listStreams(None))
      assert(server.requests.map(_._1) == Seq("DescribeStreamSummary", "DescribeStreamSummary", "ListStreams"))
    }
  }

  test("a service that is reached is called in CBOR, and an error of it is not repeated in JSON") {
    val before = emulator.calls.count("DescribeStreamSummary")
    Using.resource(SdkClients.adaptive(settings)) { service =>
      assert(failure(service.describeStream(ref("absent"))).kind == ServiceErrorKind.ResourceNotFound)
      assert(failure(service.describeStream(ref("absent"))).kind == ServiceErrorKind.ResourceNotFound)
    }
    assert(emulator.calls.count("DescribeStreamSummary") - before == 2L)
  }

  test("where JSON fails as well, the error is that of the answer in CBOR, and nothing is decided") {
    val page = Answer(503, "text/html", "<p>Down</p>".getBytes(UTF_8))
    Using.resource(new CborServer(page.status, Seq("Content-Type" -> page.contentType), page.body)) { server =>
      Using.resource(SdkClients.adaptive(server.settings)) { service =>
        (1 to 2).foreach { _ =>
          val error = intercept[ExecutionException](await(service.describeStream(StreamRef.ByName("any")))).getCause
          assert(error.asInstanceOf[ServiceException].kind == ServiceErrorKind.Internal)
        }
        assert(server.requests == 4)
      }
    }
  }
}
