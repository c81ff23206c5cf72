package org.sparkkinesis.bench.source

import java.lang.management.{BufferPoolMXBean, ManagementFactory}
import java.nio.file.Files
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryListener, Trigger}
import org.apache.spark.sql.{Dataset, Row, SparkSession}

import org.sparkkinesis.bench.LiveHeap
import org.sparkkinesis.kit.Arguments

/**
 * The reading part of [[MemoryBenchmark]], in a JVM with a small heap: `SlowQuery --endpoint URL --mode polling|efo
 * --seconds N --rate N`. The last line contains the fields of its part of the result.
 */
object SlowQuery {
  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val mode = arguments("mode")
    val rate = arguments.number("rate", 20000)
    val seconds = arguments.seconds(30)
    val spark = SparkSession.builder().master("local[2]").appName("memory").config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2").getOrCreate()
    val metrics = new Metrics
    spark.streams.addListener(metrics)
    val rowsByShard = mutable.HashMap.empty[String, Long].withDefaultValue(0L)
    val count: (Dataset[Row], Long) => Unit = (rows, _) =>
      rows.groupBy("shardId").count().collect().foreach(row => rowsByShard(row.getString(0)) += row.getLong(1))
    val query = spark.readStream.format("kinesis").options(
      Map(
        "streamName" -> ReadingStream.Name,
        "endpoint" -> arguments("endpoint"),
        "region" -> "us-east-1",
        "awsAccessKey" -> "AKIDEXAMPLE",
        "awsSecretKey" -> "secret",
        "initialPosition" -> "trim_horizon",
        "consumerMode" -> mode,
        "consumerName" -> "memory",
        "minFetchPeriod" -> "20ms",
        "maxRecordsPerTrigger" -> rate.toString
      )
    ).load().writeStream.option("checkpointLocation", Files.createTempDirectory("bench").toString)
      .trigger(Trigger.ProcessingTime(1, TimeUnit.SECONDS)).foreachBatch(count).start()
    val peakDirect = watch(query, seconds)
    query.stop()
    spark.stop()
    val capacity = Runtime.getRuntime.maxMemory / 4
    println(
      Seq(
        f""""${mode}_peak_buffer_share": ${metrics.peakBuffered.toDouble / capacity}%.3f""",
        s""""${mode}_live_heap_mb": ${LiveHeap.bytes() >> 20}""",
        s""""${mode}_peak_direct_mb": ${peakDirect >> 20}""",
        s""""${mode}_rows_per_second": ${rowsByShard.values.sum / seconds}""",
        s""""${mode}_shards_served": ${rowsByShard.size}""",
        s""""${mode}_least_rows_of_a_shard": ${rowsByShard.values.min}""",
        s""""${mode}_retries": ${metrics.last("retries")}""",
        s""""${mode}_resubscriptions": ${metrics.last("resubscriptions")}"""
      ).mkString(", ")
    )
  }

  /** Watches the query and returns the peak of direct memory in bytes. */
  private def watch(query: StreamingQuery, seconds: Int): Long = {
    val end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds.toLong)
    var peak = 0L
    while (System.nanoTime() < end && !query.awaitTermination(20)) peak = math.max(peak, directBytes)
    peak
  }

  /** Collects the source's metrics of every trigger. */
  final private class Metrics extends StreamingQueryListener {
    private val peak = new AtomicLong
    @volatile private var newest = Map.empty[String, String]

    def peakBuffered: Long = peak.get
    def last(name: String): Long = newest.get(name).fold(0L)(_.toLong)

    override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit = ()
    override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit = ()
    override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit = {
      newest = event.progress.sources.head.metrics.asScala.toMap
      peak.accumulateAndGet(last("bufferedBytes"), math.max(_, _))
      ()
    }
  }

  private def directBytes: Long =
    ManagementFactory.getPlatformMXBeans(
      classOf[BufferPoolMXBean]
    ).asScala.filter(_.getName == "direct").map(_.getMemoryUsed).sum
}
