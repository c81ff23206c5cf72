package org.sparkkinesis.integration.write

import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}

import org.apache.spark.TaskKilled
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.functions._

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}

/** The end of a write whose job is cancelled. */
class CancelledWriteSuite extends SinkFixture {

  test("the task of a job that is cancelled without an interrupt ends, although the stream accepts nothing") {
    kinesis.admin.createStream("cancelled", 1)
    val rule = kinesis.faults.add(FaultRule(FaultEffect.Silence, operation = "PutRecords", stream = "cancelled"))
    val context = spark.sparkContext
    val killed = new CountDownLatch(1)
    val listener = new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        if (end.reason.isInstanceOf[TaskKilled]) killed.countDown()
    }
    context.addSparkListener(listener)
    val rows = spark.range(0, 100, 1, 1).select(col("id").cast("string").as("partitionKey"), lit("x").as("data"))
    try {
      val write = Future {
        context.setJobGroup("cancelled-write", "a write", interruptOnCancel = false)
        try writer(rows, "streamName" -> "cancelled", "deliveryTimeout" -> "infinite").save()
        finally context.clearJobGroup()
      }(ExecutionContext.global)
      awaitPut("cancelled")
      context.cancelJobGroup("cancelled-write")
      assert(intercept[Throwable](Await.result(write, 1.minute)) != null)
      assert(killed.await(20, TimeUnit.SECONDS), "the task goes on")
      kinesis.faults.remove(rule)
      assert(read("cancelled").isEmpty)
    } finally {
      context.removeSparkListener(listener)
      kinesis.faults.clear()
    }
  }

  private def awaitPut(stream: String): Unit = {
    val until = System.nanoTime() + 1.minute.toNanos
    while (kinesis.calls.count("PutRecords", stream = stream) == 0 && System.nanoTime() < until)
      java.util.concurrent.locks.LockSupport.parkNanos(20.millis.toNanos)
  }

  test("with spark.sql.caseSensitive, the columns are those with exactly their names") {
    kinesis.admin.createStream("cases", 1)
    val session = spark
    import session.implicits._
    val conf = "spark.sql.caseSensitive"
    spark.conf.set(conf, "true")
    try
      writer(
        Seq(("wrong", "right", "a", "b")).toDF("Data", "data", "PARTITIONKEY", "partitionKey"),
        "streamName" -> "cases"
      ).save()
    finally spark.conf.unset(conf)
    assert(read("cases") == Seq("b" -> "right"))
  }

  test("without limits of shards, order and aggregation, a write lists no shards") {
    kinesis.admin.createStream("unlisted", 4)
    val rows = spark.range(0, 1000, 1, 2).select(col("id").cast("string").as("partitionKey"), lit("x").as("data"))
    val before = kinesis.calls.count("ListShards", stream = "unlisted")
    writer(rows, "streamName" -> "unlisted", "shardLimits" -> "false").save()
    assert(read("unlisted").size == 1000)
    assert(kinesis.calls.count("ListShards", stream = "unlisted") == before)
  }
}
