package org.sparkkinesis.bench.sql

import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.{DataFrame, SparkSession}

import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.kit.Arguments

/**
 * Measures what filters of batch reads save, on an emulator in this process with quotas off: `PruningBenchmark
 * [--megabytes N]`. A stream with one shard holds N MB (1024) of a day, another one holds the same in four shards.
 * Figures are the bytes and calls of GetRecords for an hour, in relation to those of a read from the hour's start to
 * its end by options; the bytes for one of four shards in relation to the bytes that it holds; and the part of the time
 * of all cores in which tasks ran while the first stream was read.
 */
object PruningBenchmark {
  private val Cores = 2
  private val RecordBytes = 10 * 1024
  private val Minutes = 24 * 60
  private val Hour = 3600000L
  private val Column = "approximateArrivalTimestamp"

  def main(args: Array[String]): Unit = {
    val megabytes = Arguments(args).number("megabytes", 1024)
    val perMinute = math.max(1, (megabytes * 1000000L / RecordBytes / Minutes).toInt)
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, memoryCapBytes = 16L << 30))
    val spark = SparkSession.builder().master(s"local[$Cores]").appName("pruning").config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    try {
      fill(emulator, perMinute)
      val run = new PruningBenchmark(spark, emulator)
      // The first read warms up.
      run.cores("day"): Unit
      val figures = run.hour() ++ run.shard() :+ "batch_cores_used" -> run.cores("day")
      println(figures.map { case (name, value) => f""""$name": $value%.3f""" }.mkString("{", ", ", "}"))
    } finally {
      spark.stop()
      emulator.close()
    }
  }

  /** Puts records of one payload, which the emulator does not copy. */
  private def fill(emulator: KinesisEmulator, perMinute: Int): Unit = {
    val payload = new Array[Byte](RecordBytes)
    emulator.admin.createStream("day", 1): Unit
    emulator.admin.createStream("shards", 4): Unit
    for (minute <- 0 until Minutes) {
      for (record <- 0 until perMinute; stream <- Seq("day", "shards"))
        emulator.admin.putRecord(stream, s"k$minute-$record", payload): Unit
      emulator.admin.clock.advance(1.minute)
    }
  }
}

final private class PruningBenchmark(spark: SparkSession, emulator: KinesisEmulator) {
  import PruningBenchmark._

  private def read(stream: String, options: (String, String)*): DataFrame = spark.read.format("kinesis").options(
    Map(
      "streamName" -> stream,
      "endpoint" -> emulator.endpoint,
      "region" -> emulator.region,
      "awsAccessKey" -> "test",
      "awsSecretKey" -> "test",
      "maxFetchesPerSecond" -> "100000",
      "minFetchPeriod" -> "10ms"
    ) ++ options
  ).load()

  private def consume(rows: DataFrame): Unit = rows.write.format("noop").mode("overwrite").save()

  /** Returns the bytes and the number of GetRecords calls of a read. */
  private def cost(stream: String)(read: => Unit): (Long, Long) = {
    def now = (emulator.admin.bytesRead(stream).values.sum, emulator.calls.count("GetRecords", stream))
    val (bytes, calls) = now
    read
    val (bytesAfter, callsAfter) = now
    (bytesAfter - bytes, callsAfter - calls)
  }

  def hour(): Seq[(String, Double)] = {
    val arrivals = emulator.admin.records("day").map(_.arrivalMillis)
    val from = arrivals(arrivals.size / 2)
    val held = emulator.admin.records("day").filter(one => one.arrivalMillis >= from && one.arrivalMillis < from + Hour)
    val (start, end) = (Instant.ofEpochMilli(from), Instant.ofEpochMilli(from + Hour))
    val (bytes, calls) =
      cost("day")(consume(read("day").where(s"$Column >= TIMESTAMP '$start' AND $Column < TIMESTAMP '$end'")))
    val (_, callsOfHour) =
      cost("day")(consume(read("day", "initialPosition" -> start.toString, "endingPosition" -> end.toString)))
    Seq(
      "hour_of_day_bytes_ratio" -> bytes.toDouble / held.map(_.size.toLong).sum,
      "hour_of_day_calls_ratio" -> calls.toDouble / callsOfHour
    )
  }

  def shard(): Seq[(String, Double)] = {
    val id = "shardId-000000000002"
    val held = emulator.admin.records("shards", id).map(_.size.toLong).sum
    val (bytes, _) = cost("shards")(consume(read("shards").where(s"shardId = '$id'")))
    Seq("shard_filter_bytes_ratio" -> bytes.toDouble / held)
  }

  /** Returns the part of the time of all cores in which tasks ran, from the first start to the last end of a task. */
  def cores(stream: String): Double = {
    val tasks = new ConcurrentLinkedQueue[SparkListenerTaskEnd]
    val listener = new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit = {
        tasks.add(end)
        ()
      }
    }
    spark.sparkContext.addSparkListener(listener)
    val rows = read(stream)
    val expected = rows.rdd.getNumPartitions
    tasks.clear()
    consume(rows)
    while (tasks.size < expected) Thread.onSpinWait()
    spark.sparkContext.removeSparkListener(listener)
    val infos = tasks.asScala.map(_.taskInfo).toSeq
    val span = infos.map(_.finishTime).max - infos.map(_.launchTime).min
    println(s"${infos.size} tasks in $span ms")
    infos.map(_.duration).sum.toDouble / (span * Cores)
  }
}
