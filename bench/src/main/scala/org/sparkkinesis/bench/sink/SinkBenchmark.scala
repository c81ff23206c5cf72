package org.sparkkinesis.bench.sink

import java.util.concurrent.atomic.LongAdder
import java.util.concurrent.{CompletableFuture, Semaphore}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions._
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.model.{PutRecordsRequest, PutRecordsRequestEntry}

import org.sparkkinesis.bench.{Measured, Meter}
import org.sparkkinesis.config.Options
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.SharedTimer
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings, KinesisStreamSink, SinkProcess}

/**
 * Compares the sink with a bare loop of SDK PutRecords with the same number of requests in flight and quotas off.
 * Each variant runs several times in turn; a ratio is the median over the rounds. `writer_…` is the sink without
 * Spark.
 */
object SinkBenchmark {
  private val Shards = 4
  private val Tasks = 2
  private val InFlight = 16
  private val Sizes = Seq(200, 2048)

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val perRun = math.max(1.0, arguments.seconds(120).toDouble / (Sizes.size * 4 * (Rounds + WarmUps - 1)))
    val emulator = new WriteTarget(quotas = false)
    val spark = SparkSession.builder().master(s"local[$Tasks]").config("spark.ui.enabled", "false").getOrCreate()
    // Keep the timer open, so that its thread is part of the measurement.
    val timer = SharedTimer.acquire()
    try println(Json.render(new SinkBenchmark(emulator, spark, perRun).run()))
    finally {
      timer.close()
      spark.stop()
      emulator.close()
    }
  }

  private val Rounds = 3
  private val WarmUps = 3
}

final private class SinkBenchmark(emulator: WriteTarget, spark: SparkSession, secondsPerRun: Double) {
  import SinkBenchmark._

  private var streams = 0

  def run(): Json = {
    val bySize = Sizes.map(size => size -> compare(size))
    def ratio(size: Int, way: String, to: String): Json.Num = {
      val rounds = bySize.toMap.apply(size)
      val perRound = rounds(way).lazyZip(rounds(to)).map((one, other) => one.perSecond / other.perSecond)
      number(Meter.median(perRound))
    }
    Json.obj(
      "benchmark" -> Json.Str("sink"),
      "sink_vs_sdk" -> ratio(200, "sink", "sdk"),
      "sink_vs_sdk_2k" -> ratio(2048, "sink", "sdk"),
      "writer_vs_sdk" -> ratio(200, "writer", "sdk"),
      "writer_vs_sdk_2k" -> ratio(2048, "writer", "sdk"),
      "aggregated_vs_sdk" -> ratio(200, "aggregated", "sdk"),
      "aggregated_vs_plain" -> ratio(200, "aggregated", "writer"),
      "aggregated_vs_plain_2k" -> ratio(2048, "aggregated", "writer"),
      "requestsInFlight" -> Json.num(InFlight.toLong),
      "sizes" -> Json.obj(bySize.map { case (size, ways) =>
        size.toString -> Json.obj(ways.toSeq.sortBy(_._1).map { case (way, runs) => way -> figures(runs) }: _*)
      }: _*)
    )
  }

  private def figures(runs: Seq[Measured]): Json = Json.obj(
    "recordsPerSecond" -> Json.num(Meter.median(runs.map(_.perSecond)).toLong),
    "cpuMicrosPerRecord" -> number(Meter.median(runs.map(_.cpuMicros))),
    "allocatedBytesPerRecord" -> Json.num(Meter.median(runs.map(_.allocatedBytes)).toLong)
  )

  private def number(value: Double): Json.Num = Json.Num(BigDecimal(value).setScale(3, BigDecimal.RoundingMode.HALF_UP))

  private def compare(size: Int): Map[String, Seq[Measured]] = {
    val ways = Seq[(String, (String, Long) => Unit)](
      "sdk" -> sdkLoop(size),
      "writer" -> writer(size, aggregated = false),
      "sink" -> sparkSink(size),
      "aggregated" -> writer(size, aggregated = true)
    )
    val counts = ways.map { case (name, way) => name -> warmUp(way) }.toMap
    val rounds = (1 to Rounds).map(_ => ways.map { case (name, way) => name -> measure(counts(name), way) }.toMap)
    ways.map { case (name, _) => name -> rounds.map(_(name)) }.toMap
  }

  /**
   * Returns the number of records that a variant can write in its time, from rounds that are not counted and that
   * compile the code.
   */
  private def warmUp(way: (String, Long) => Unit): Long = (1 to WarmUps).foldLeft(20000L) { (count, _) =>
    math.max(20000L, (measure(count, way).perSecond * secondsPerRun).toLong)
  }

  private def measure(records: Long, way: (String, Long) => Unit): Measured = {
    streams += 1
    val stream = s"bench-$streams"
    emulator.createStream(stream, Shards)
    try Meter.measure(records)(way(stream, records))
    finally emulator.deleteStream(stream)
  }

  private def inTasks(records: Long)(task: (Int, Long) => Unit): Unit = {
    val running = (0 until Tasks).map(n => CompletableFuture.runAsync(() => task(n, records / Tasks)))
    running.foreach(_.get())
  }

  private def sdkLoop(size: Int)(stream: String, records: Long): Unit = inTasks(records) { (task, count) =>
    val payload = new Array[Byte](size)
    val slots = new Semaphore(InFlight / Tasks)
    val failed = new LongAdder
    var sent = 0L
    while (sent < count) {
      val batch = new java.util.ArrayList[PutRecordsRequestEntry](500)
      while (batch.size < 500 && sent < count) {
        batch.add(PutRecordsRequestEntry.builder().partitionKey(
          s"$task-$sent"
        ).data(SdkBytes.fromByteArrayUnsafe(payload.clone())).build())
        sent += 1
      }
      slots.acquire()
      emulator.sdk.putRecords(PutRecordsRequest.builder().streamName(stream).records(batch).build()).whenComplete {
        (answer, error) =>
          if (error != null || answer.failedRecordCount > 0) failed.increment()
          slots.release()
      }
    }
    slots.acquire(InFlight / Tasks)
    if (failed.sum > 0) throw new IllegalStateException(s"${failed.sum} requests failed")
  }

  private def settings(aggregated: Boolean) = KinesisSinkSettings.of(Options.defaults).copy(
    KinesisSinkSettings.of(Options.defaults).requests.copy(maxInFlightRequests = InFlight / Tasks),
    aggregated = aggregated
  )

  private def writer(size: Int, aggregated: Boolean)(stream: String, records: Long): Unit = {
    val timer = SharedTimer.acquire()
    val ref = StreamRef.ByName(stream)
    val checked = CheckedStream.of(ref, emulator.lease.service.describeStream(ref).get(), Some(emulator.endpoint))
    val sinkSettings = settings(aggregated)
    try
      inTasks(records) { (task, count) =>
        val payload = new Array[Byte](size)
        val sink = KinesisStreamSink.open(
          emulator.lease.service,
          checked,
          sinkSettings,
          sinkSettings.newBounds,
          new SinkProcess(timer)
        )
        try {
          var sent = 0L
          while (sent < count) {
            sink.write(new SinkRecord(s"$task-$sent", None, payload.clone()))
            sent += 1
          }
          sink.flush()
        } finally sink.close()
      }
    finally timer.close()
  }

  private def sparkSink(size: Int)(stream: String, records: Long): Unit = {
    val payload = lit(new Array[Byte](size))
    spark
      .range(0, records, 1, Tasks)
      .select(col("id").cast("string").as("partitionKey"), payload.as("data"))
      .write
      .format("kinesis")
      .mode("append")
      .options(Map(
        "streamName" -> stream,
        "endpoint" -> emulator.endpoint,
        "region" -> "us-east-1",
        "awsAccessKey" -> "AKIDEXAMPLE",
        "awsSecretKey" -> "secret",
        "maxInFlightRequests" -> (InFlight / Tasks).toString
      ))
      .save()
  }
}
