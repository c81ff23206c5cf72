package org.sparkkinesis.integration.fault

import java.net.{InetAddress, ServerSocket}

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.streaming.StreamingQueryException

import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.emulator.fault.FaultEffect
import org.sparkkinesis.emulator.wire.auth.EmulatorCredential
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._
import org.sparkkinesis.network.ContainerEndpoint

/** A temporary failure never ends a query; a permanent one ends it with a condition. */
class OutageSuite extends SparkSuite {
  private val unavailable = FaultEffect.Error(503, "ServiceUnavailable", "by request")
  private val denied = FaultEffect.Error(400, "AccessDeniedException", "by request")

  /** Default retry settings with shorter pauses. */
  private val hasty = Seq("getRecords", "getShardIterator", "listShards", "subscribeToShard").flatMap { operation =>
    Seq(s"retry.$operation.backoff.base" -> "1ms", s"retry.$operation.backoff.max" -> "10ms")
  }
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  test("polling continues after an outage of all operations, longer than any number of retries, and of discovery") {
    testStream("polled", 1, hasty :+ ("shardFetchInterval" -> "1s"): _*)(
      PutRecords(0 until 50),
      StartStream(),
      CheckRows(0 until 50),
      AddFault(unavailable, "ListShards"),
      AddFault(unavailable, "GetShardIterator"),
      AddFault(unavailable, "GetRecords"),
      Split(0),
      PutRecords(50 until 100),
      AwaitFault(20, fault = 0),
      AwaitFault(20, fault = 2),
      CheckRowsNow(0 until 50),
      ClearFaults,
      CheckRows(0 until 100)
    )
  }

  test("fan-out starts after an outage of its first SubscribeToShard that is longer than five retries") {
    testStream("pushed", 1, efo ++ hasty: _*)(
      PutRecords(0 until 50),
      AddFault(unavailable, "SubscribeToShard"),
      StartStream(),
      AwaitFault(7),
      ClearFaults,
      CheckRows(0 until 50)
    )
  }

  /** Starts a query that reads ten rows, and then runs the actions. */
  private def running(stream: String, options: (String, String)*)(actions: StreamAction*): StreamRun =
    testStream(stream, 1, hasty ++ options: _*)(
      Seq(PutRecords(0 until 10), StartStream(), CheckRows(0 until 10)) ++ actions: _*
    )

  test("a key of KMS that cannot be used for a while does not end a query") {
    running("encrypted")(
      AddFault(FaultEffect.Error(400, "KMSDisabledException", "by request"), "GetRecords"),
      PutRecords(10 until 20),
      AwaitFault(7),
      ClearFaults,
      CheckRows(0 until 20)
    )
  }

  test("a container's endpoint that gives no keys for ten seconds, at the start and in the middle, ends no query") {
    val config =
      EmulatorConfig(quotas = false, credentials = Seq(EmulatorCredential("AKIDEXAMPLE", "s", "123456789012")))
    Using.resources(KinesisEmulator.start(config), new ContainerEndpoint, new SystemScheduler("keys", 1)) {
      (service, endpoint, timer) =>
        def giveLater(): Deadline = {
          val period = 10.seconds
          timer.schedule(period) {
            val session = service.createSession()
            endpoint.give(session.accessKeyId, session.secretAccessKey, session.sessionToken)
          }
          period.fromNow
        }
        val (property, address) = endpoint.property
        System.setProperty(property, address)
        try {
          service.admin.createStream("kept", 1)
          service.admin.putRecord("kept", "k", utf8("0"))
          val options = Map("streamName" -> "kept", "endpoint" -> service.endpoint, "region" -> "us-east-1") +
            ("initialPosition" -> "trim_horizon")
          val rows = new Collected
          val atStart = giveLater()
          val query = spark.readStream.format("kinesis").options(options).load().writeStream
            .option("checkpointLocation", checkpoint()).foreachBatch(rows.sink).start()
          await(query, "the first row")(rows.rows.size == 1)
          assert(atStart.isOverdue())
          endpoint.fail()
          service.expireSessions()
          val inTheMiddle = giveLater()
          service.admin.putRecord("kept", "k", utf8("1"))
          await(query, "the second row")(rows.rows.size == 2)
          assert(inTheMiddle.isOverdue())
          query.stop()
        } finally System.clearProperty(property): Unit
    }
  }

  test("an expired token that cannot be replaced ends a query, and the fix is about credentials") {
    val expired = FaultEffect.Error(400, "ExpiredTokenException", "by request")
    val keys = Seq("awsAccessKey" -> "AKIDEXAMPLE", "awsSecretKey" -> "secret", "sessionToken" -> "token")
    running("expired", keys: _*)(AddFault(expired, "GetRecords"), ExpectFailure("KINESIS_CREDENTIALS_FAILED"))
  }

  test("refused credentials end a polling query") {
    running("denied")(AddFault(denied, "GetRecords"), ExpectFailure("KINESIS_ACCESS_DENIED"))
  }

  test("a refused listing ends the query") {
    running("unlisted", "shardFetchInterval" -> "1s")(
      AddFault(denied, "ListShards"),
      ExpectFailure("KINESIS_ACCESS_DENIED")
    )
  }

  test("the deletion of the stream ends the query") {
    running("deleted")(
      Execute("delete the stream")(run => kinesis.admin.deleteStream(run.stream)),
      ExpectFailure("KINESIS_STREAM_NOT_FOUND")
    )
  }

  test("calls are retried as often as the user's option allows") {
    running("limited", "retry.getRecords.maxRetries" -> "2")(
      AddFault(unavailable, "GetRecords"),
      ExpectFailure("KINESIS_SERVICE_FAILED"),
      Execute("one call and two retries")(run => assert(run.hits(0) == 3))
    )
  }

  test("an error that the user's option declares recoverable does not end the query") {
    testStream("tolerant", 1, hasty :+ ("retry.recoverableErrors" -> "AccessDeniedException"): _*)(
      PutRecords(0 until 50),
      AddFault(denied, "GetRecords", count = 5),
      StartStream(),
      CheckRows(0 until 50),
      Execute("five calls were refused")(run => assert(run.hits(0) == 5))
    )
  }

  test("a query of two sources, one of which cannot be reached at the start, ends with the endpoint and the fix") {
    kinesis.admin.createStream("reached", 1)
    val nobody = Using.resource(new ServerSocket(0, 1, InetAddress.getLoopbackAddress))(_.getLocalPort)
    val down = readStream(
      "unreached",
      "endpoint" -> s"http://127.0.0.1:$nobody",
      "retry.describeStreamSummary.backoff.max" -> "10ms"
    ).load()
    val query = readStream("reached").load().union(down).writeStream
      .option("checkpointLocation", checkpoint()).foreachBatch(new Collected().sink).start()
    val failure = intercept[StreamingQueryException](query.awaitTermination(60000)).getMessage
    val parts =
      Seq("KINESIS_ENDPOINT_UNREACHABLE", s"127.0.0.1:$nobody", "DescribeStreamSummary", "'unreached'", "Check")
    parts.foreach(part => assert(failure.contains(part), failure))
  }
}
