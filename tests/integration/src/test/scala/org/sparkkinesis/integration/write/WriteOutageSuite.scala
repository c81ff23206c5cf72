package org.sparkkinesis.integration.write

import org.apache.spark.sql.functions.lit

import org.sparkkinesis.emulator.fault.FaultEffect
import org.sparkkinesis.kit.stream._

/** Tests that an outage that is shorter than `deliveryTimeout` ends no query, at any point of a batch. */
class WriteOutageSuite extends SinkFixture {
  private val unavailable = FaultEffect.Error(503, "ServiceUnavailable", "by request")
  private val described = Seq("DescribeStreamSummary", "ListShards")

  private def outage(operations: Seq[String]): Seq[StreamAction] = operations.map(AddFault(unavailable, _))

  private def awaitRefused(calls: Int, operations: Seq[String]) =
    Await(s"$calls refused calls")(run => operations.indices.map(run.hits).sum >= calls)

  private def checkStored(stream: String, numbers: Seq[Int]) =
    Execute(s"$stream has the rows $numbers")(_ => assert(read(stream).map(_._2.toInt).toSet == numbers.toSet))

  /** Waits longer than the lifetime of the cached shards. */
  private val letShardsExpire = Execute("let the shards expire")(run => assert(!run.query.awaitTermination(2500)))

  test("a query waits for the end of an outage of all operations between two micro-batches") {
    val operations = described :+ "PutRecords"
    testStream("between", 2)(
      Seq(StartWrite(Map("aggregation" -> "true")), AddRows(0 until 100), ProcessAllAvailable, letShardsExpire) ++
        outage(operations) ++ Seq(
          AddRows(100 until 200),
          awaitRefused(8, operations),
          ClearFaults,
          ProcessAllAvailable,
          checkStored("between", 0 until 200)
        ): _*
    )
  }

  test("a query waits for the end of an outage before its first batch if the service fails") {
    val start = StartWrite(Map("ordering" -> "key"))
    testStream("before", 2)(
      outage(described) ++ Seq(
        start,
        AddRows(0 until 100),
        awaitRefused(12, described),
        Execute("the query is active")(run => assert(run.query.isActive)),
        StopStream,
        ClearFaults,
        start,
        ProcessAllAvailable,
        checkStored("before", 0 until 100)
      ): _*
    )
  }

  test("the wait for the end of an outage is limited to the delivery timeout") {
    testStream("patience", 1)(
      AddFault(unavailable, "DescribeStreamSummary"),
      StartWrite(Map("deliveryTimeout" -> "3s")),
      AddRows(0 until 100),
      ExpectFailure("KINESIS_SERVICE_FAILED"),
      Execute("the error names the service's")(run =>
        assert(run.query.exception.exists(_.getMessage.contains("ServiceUnavailable")), run.query.exception)
      )
    )
  }

  test("each stream is described once for any number of tasks and batches") {
    kinesis.admin.createStream("routed", 1)
    val batches = (0 until 500 by 100).flatMap(n => Seq(AddRows(n until n + 100), ProcessAllAvailable))
    testStream("home", 1)(
      StartWrite(Map("streamColumn" -> "to"), StartWrite.keyAndData(_).withColumn("to", lit("routed"))) +: batches :+
        checkStored("routed", 0 until 500) :+
        CheckCalls("DescribeStreamSummary" -> 1L): _*
    )
    assert(kinesis.calls.count("DescribeStreamSummary", "routed") == 1)
  }

  test("a stream that was recreated between two batches is written with its new shards") {
    // One task, because only some versions of Spark join the small tasks of a distribution by key.
    val options = Seq("ordering" -> "key", "distributeByKey" -> "false", "maxTimeInBuffer" -> "1h")
    testStream("again", 2)(
      StartWrite(Map("aggregation" -> "true") ++ options),
      AddRows(0 until 100),
      ProcessAllAvailable,
      Execute("delete the stream and create it again") { run =>
        kinesis.admin.deleteStream(run.stream)
        kinesis.admin.createStream(run.stream, 5)
      },
      letShardsExpire,
      AddRows(100 until 200),
      ProcessAllAvailable,
      checkStored("again", 100 until 200),
      Execute("at most one record per shard")(run => assert(kinesis.admin.recordCount(run.stream) <= 5))
    )
  }
}
