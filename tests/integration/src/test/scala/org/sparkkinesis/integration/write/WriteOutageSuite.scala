package org.sparkkinesis.integration.write

import java.nio.file.Files

import scala.concurrent.duration._

import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}

/** Tests that an outage that is shorter than `deliveryTimeout` ends no query, at any point of a batch. */
class WriteOutageSuite extends SinkFixture {
  private val unavailable = FaultEffect.Error(503, "ServiceUnavailable", "by request")

  final private class Run(set: (String, String)*) {
    implicit private val sql: org.apache.spark.sql.SQLContext = spark.sqlContext
    import spark.implicits._
    val input: MemoryStream[Int] = MemoryStream[Int]
    private var sent = 0
    val query: StreamingQuery = input.toDF()
      .select(
        col("value").cast("string").as("partitionKey"),
        col("value").cast("string").as("data"),
        lit(set.toMap.getOrElse("rows", null)).as("to")
      )
      .writeStream
      .format(format)
      .options(target ++ set.toMap - "rows")
      .option("checkpointLocation", Files.createTempDirectory("checkpoint").toString)
      .start()

    def add(): Unit = {
      input.addData(sent until sent + 100)
      sent += 100
    }

    def assertStored(stream: String): Unit = assert(read(stream).map(_._2.toInt).toSet == (0 until sent).toSet)
  }

  private def during(operations: String*)(body: (() => Long) => Unit): Unit = {
    val faults = operations.map(operation => kinesis.faults.add(FaultRule(unavailable, operation)))
    try body(() => faults.map(kinesis.faults.hits(_)).sum.toLong)
    finally faults.foreach(kinesis.faults.remove)
  }

  private def await(query: StreamingQuery)(condition: => Boolean): Unit = {
    val deadline = 2.minutes.fromNow
    while (!condition) {
      query.exception.foreach(failure => throw failure)
      assert(deadline.hasTimeLeft() && query.isActive)
      query.awaitTermination(20)
    }
  }

  test("a query waits for the end of an outage of all operations between two micro-batches") {
    kinesis.admin.createStream("between", 2)
    val run = new Run("streamName" -> "between", "aggregation" -> "true")
    run.add()
    run.query.processAllAvailable()
    // The outage is longer than the lifetime of the cached shards.
    assert(!run.query.awaitTermination(2500))
    during("DescribeStreamSummary", "ListShards", "PutRecords") { hits =>
      run.add()
      await(run.query)(hits() >= 8)
    }
    run.query.processAllAvailable()
    run.assertStored("between")
    run.query.stop()
  }

  test("a query waits for the end of an outage before its first batch if the service fails") {
    kinesis.admin.createStream("before", 2)
    during("DescribeStreamSummary", "ListShards") { hits =>
      val run = new Run("streamName" -> "before", "ordering" -> "key")
      run.add()
      await(run.query)(hits() >= 12)
      assert(run.query.isActive)
      run.query.stop()
    }
    val run = new Run("streamName" -> "before", "ordering" -> "key")
    during("DescribeStreamSummary", "ListShards")(_ => ())
    run.add()
    run.query.processAllAvailable()
    run.assertStored("before")
    run.query.stop()
  }

  test("the wait for the end of an outage is limited to the delivery timeout") {
    kinesis.admin.createStream("patience", 1)
    during("DescribeStreamSummary") { _ =>
      val run = new Run("streamName" -> "patience", "deliveryTimeout" -> "3s")
      run.add()
      val (condition, message) = conditionOf(run.query.processAllAvailable())
      assert(condition == "KINESIS_SERVICE_FAILED")
      assert(message.contains("ServiceUnavailable"))
    }
  }

  test("each stream is described once for any number of tasks and batches") {
    kinesis.admin.createStream("home", 1)
    kinesis.admin.createStream("routed", 1)
    val run = new Run("streamName" -> "home", "streamColumn" -> "to", "rows" -> "routed")
    (1 to 5).foreach { _ =>
      run.add()
      run.query.processAllAvailable()
    }
    run.assertStored("routed")
    Seq("home", "routed").foreach(stream => assert(kinesis.calls.count("DescribeStreamSummary", stream) == 1, stream))
    run.query.stop()
  }

  test("a stream that was recreated between two batches is written with its new shards") {
    kinesis.admin.createStream("again", 2)
    val run = new Run(
      "streamName" -> "again",
      "aggregation" -> "true",
      "ordering" -> "key",
      "maxTimeInBuffer" -> "1h"
    )
    run.add()
    run.query.processAllAvailable()
    kinesis.admin.deleteStream("again")
    kinesis.admin.createStream("again", 5)
    assert(!run.query.awaitTermination(2500))
    run.add()
    run.query.processAllAvailable()
    assert(read("again").map(_._2.toInt).toSet == (100 until 200).toSet)
    assert(kinesis.admin.recordCount("again") <= 5)
    run.query.stop()
  }
}
