package org.sparkkinesis.chaos.writing

import java.nio.file.{Files, Path}
import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{col, concat, lit}

import org.sparkkinesis.chaos.query.{QueryOptions, QuerySession}
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.StandaloneCluster

/**
 * Writes with `ordering=key` and `orderBy` on a standalone cluster of two executors, while the service throttles the
 * tasks by its quotas, refuses some of the records, and is down for a while: `KeyOrder [--rows N] [--keys N] [--tasks
 * N]`. The rows of each key come from all input partitions. Prints one JSON object on the last line. Exits with 1 when
 * a record is lost, or stored before an earlier one of its key.
 */
object KeyOrder {
  private val Stream = "ordered"
  private val Shards = 8
  private val InputPartitions = 16
  private val RefusedShare = 0.002

  /** Enough for several attempts of each record that is in flight, because the pauses grow. */
  val RequestsInOutage = 12

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val verdict = run(
      Files.createTempDirectory("key-order"),
      arguments.number("rows", 1000000),
      arguments.number("keys", 10000),
      arguments.number("tasks", 8)
    )
    println(Json.render(verdict.toJson))
    sys.exit(if (verdict.ok) 0 else 1)
  }

  def run(folder: Path, rows: Int, keys: Int, tasks: Int): Verdict = Using.Manager { use =>
    val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = true)))
    kinesis.admin.createStream(Stream, Shards)
    val refusals = kinesis.faults.add(FaultRule(
      FaultEffect.FailEntries("InternalFailure", "injected"),
      operation = "PutRecords",
      probability = RefusedShare
    ))
    val cluster = use(new StandaloneCluster(folder, workers = 2, executorsPerWorker = 1))
    val settings = Map(
      "spark.sql.shuffle.partitions" -> tasks.toString,
      "spark.sql.adaptive.enabled" -> "false"
    )
    val spark = QuerySession.open(cluster.master, cluster.settings ++ settings)
    use.acquire(spark)(session => session.stop())
    spark.sparkContext.setLogLevel("OFF")
    val writing = CompletableFuture.runAsync(() => write(spark, kinesis, rows, keys))
    val duringOutage = outage(kinesis, rows / 3, writing)
    writing.get()
    val arrivals = Arrivals.of(kinesis, Stream)
    val distinct = arrivals.iterator.map(_.number).toSet.size.toLong
    Verdict(
      "order of keys",
      rows.toLong,
      rows - distinct,
      arrivals.size - distinct,
      // A failed request may have been stored, as far as the sink knows. In this outage none is.
      0,
      Arrivals.overtaken(arrivals),
      Seq(
        "keys" -> arrivals.iterator.map(_.key).toSet.size.toLong,
        "tasks" -> tasks.toLong,
        "refusedRecords" -> kinesis.faults.hits(refusals).toLong,
        "requestsInOutage" -> duringOutage
      )
    )
  }.get

  private def write(spark: SparkSession, kinesis: KinesisEmulator, rows: Int, keys: Int): Unit = spark
    .range(0, rows.toLong, 1, InputPartitions)
    // Without columns, rows are distributed in turn, so that the rows of a key are in several partitions.
    .repartition(InputPartitions)
    .select(concat(lit("key-"), col("id") % keys).as("partitionKey"), col("id").cast("string").as("data"), col("id"))
    .write
    .format("kinesis")
    .mode("append")
    .option("streamName", Stream)
    .options(QueryOptions.connection(kinesis.endpoint))
    .option("ordering", "key")
    .option("orderBy", "id")
    .save()

  /** Refuses all requests from the time at which this many records are stored until some of them were repeated. */
  private def outage(kinesis: KinesisEmulator, from: Int, writing: CompletableFuture[Void]): Long = {
    awaitUntil(writing)(kinesis.admin.recordCount(Stream) >= from)
    val down = kinesis.faults.add(FaultRule(
      FaultEffect.Error(503, "ServiceUnavailableException", "injected"),
      operation = "PutRecords"
    ))
    awaitUntil(writing)(kinesis.faults.hits(down) >= RequestsInOutage)
    val hits = kinesis.faults.hits(down).toLong
    kinesis.faults.remove(down)
    hits
  }

  /** Waits for a condition that the service fulfils while the writers run; their failure ends the wait. */
  private def awaitUntil(writing: CompletableFuture[Void])(condition: => Boolean): Unit = {
    val ended = new CountDownLatch(1)
    writing.whenComplete((_, _) => ended.countDown())
    val deadline = 10.minutes.fromNow
    while (!condition && deadline.hasTimeLeft() && !ended.await(10, TimeUnit.MILLISECONDS)) ()
    if (writing.isCompletedExceptionally) writing.get()
  }
}
