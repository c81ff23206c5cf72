package org.sparkkinesis.bench.sink

import java.util.concurrent.CompletableFuture

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions._

import org.sparkkinesis.bench.{Measured, MeasuredLoop, Meter}
import org.sparkkinesis.config.Options
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.SharedTimer
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings, KinesisStreamSink, SinkProcess}

/** Writes records to a new stream of four shards, and deletes the stream. The figures are those of the writes alone. */
abstract class PutLoop(target: WriteTarget) extends MeasuredLoop {
  import PutLoop._

  protected def write(stream: String, records: Long): Unit

  final override def run(records: Long): Measured = {
    val stream = s"$name-${System.nanoTime()}"
    target.createStream(stream, Shards)
    try Meter.measure(records)(write(stream, records))
    finally target.deleteStream(stream)
  }
}

object PutLoop {
  val Shards: Int = 4

  /** Number of requests in flight, of all tasks of a loop. */
  val InFlight: Int = 16

  /** Runs tasks with equal numbers of records at the same time. */
  def inTasks(tasks: Int, records: Long)(task: (Int, Long) => Unit): Unit = {
    val running = (0 until tasks).map(n =>
      CompletableFuture.runAsync(() => task(n, records / tasks), (body: Runnable) => new Thread(body).start())
    )
    running.foreach(_.get())
  }
}

/** The connector's writer without Spark, in two tasks. */
final class WriterLoop(val name: String, target: WriteTarget, route: WriteRoute, size: Int, aggregated: Boolean)
    extends PutLoop(target) {
  import PutLoop._

  private val settings = KinesisSinkSettings.of(Options.defaults).copy(
    KinesisSinkSettings.of(Options.defaults).requests.copy(maxInFlightRequests = InFlight / WriterLoop.Tasks),
    aggregated = aggregated
  )

  override protected def write(stream: String, records: Long): Unit = {
    val timer = SharedTimer.acquire()
    val ref = StreamRef.ByName(stream)
    val checked = CheckedStream.of(ref, route.lease.service.describeStream(ref).get(), Some(route.endpoint))
    try
      inTasks(WriterLoop.Tasks, records) { (task, count) =>
        val payload = new Array[Byte](size)
        val sink = KinesisStreamSink.open(
          route.lease.service,
          checked,
          settings,
          settings.newBounds,
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
}

private object WriterLoop {
  val Tasks = 2
}

/** Spark's write of a DataFrame, in two tasks. */
final class SparkWriteLoop(
    val name: String,
    target: WriteTarget,
    endpoint: String,
    spark: SparkSession,
    size: Int
) extends PutLoop(target) {
  import PutLoop._

  override protected def write(stream: String, records: Long): Unit = spark
    .range(0, records, 1, 2)
    .select(col("id").cast("string").as("partitionKey"), lit(new Array[Byte](size)).as("data"))
    .write
    .format("kinesis")
    .mode("append")
    .options(Map(
      "streamName" -> stream,
      "endpoint" -> endpoint,
      "region" -> "us-east-1",
      "awsAccessKey" -> "AKIDEXAMPLE",
      "awsSecretKey" -> "secret",
      "maxInFlightRequests" -> (InFlight / 2).toString
    ))
    .save()
}
