package org.sparkkinesis.bench.dynamic

import java.nio.file.Files
import java.util.concurrent.{ConcurrentLinkedQueue, Executors, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{Dataset, Row, SparkSession}

import org.sparkkinesis.bench.sink.WriteTarget
import org.sparkkinesis.json.Json

/**
 * A query on a logical stream whose streams change: single streams join one after the other, then ten at once join and
 * leave. One stream stays and gets a record every twenty milliseconds.
 */
final class ChangingQuery(target: WriteTarget, spark: SparkSession) {
  import ChangingQuery._

  private val logical = new LogicalTarget(target)

  /** The streams of each batch with its time in nanoseconds. */
  private val batches = new ConcurrentLinkedQueue[(Long, Set[String])]

  private val collect: (Dataset[Row], Long) => Unit = (rows, _) => {
    val streams = rows.select("stream").collect().iterator.map(_.getString(0)).toSet
    batches.add(System.nanoTime() -> streams)
    this.synchronized(notifyAll())
  }

  /**
   * @param changes
   *   number of streams that join one after the other, and of streams that join and leave in groups of ten
   */
  def run(changes: Int, quietSeconds: Int): Seq[(String, Json)] = {
    val steady = logical.create(Steady, 2)
    logical.set(Seq(steady))
    val query = start()
    val writer = Executors.newSingleThreadScheduledExecutor()
    try {
      writer.scheduleAtFixedRate(() => logical.put(Steady), 0, 20, TimeUnit.MILLISECONDS)
      awaitRow(query, Steady, 0)
      // The first joins compile the code of all later ones.
      (0 until WarmUps).foreach(i => join(query, steady, s"warm-$i"))
      val joins = (0 until changes).map(i => join(query, steady, s"join-$i"))
      logical.set(Seq(steady))
      val quietFrom = System.nanoTime()
      query.awaitTermination(quietSeconds * 1000L)
      val quietTo = System.nanoTime()
      (0 until math.max(1, changes / Group)).foreach(joinAndLeave(query, steady, _))
      val pauses = gaps(quietTo, System.nanoTime())
      Seq[(String, Json)]("joins" -> Json.num(joins.size.toLong), "pauses" -> Json.num(pauses.size.toLong)) ++
        DynamicBenchmark.percentiles("join", joins) ++
        DynamicBenchmark.percentiles("pause", pauses) ++
        DynamicBenchmark.percentiles("quiet_pause", gaps(quietFrom, quietTo))
    } finally {
      writer.shutdownNow()
      query.stop()
    }
  }

  private def start(): StreamingQuery = spark.readStream.format("kinesis").options(logical.options ++ Map(
    "initialPosition" -> "trim_horizon",
    "minFetchPeriod" -> "20ms",
    "maxFetchesPerSecond" -> "1000",
    "removalConfirmations" -> "1",
    "onStreamRemoved" -> "park"
  )).load().writeStream.option("checkpointLocation", Files.createTempDirectory("bench").toString)
    .trigger(Trigger.ProcessingTime(0)).foreachBatch(collect).start()

  /** Adds one stream, which has a record already, instead of the last one. Returns the time to its first row. */
  private def join(query: StreamingQuery, steady: String, name: String): Double = {
    val arn = logical.create(name)
    logical.put(name)
    val began = System.nanoTime()
    logical.set(Seq(steady, arn))
    (awaitRow(query, name, began) - began) / 1e6
  }

  private def joinAndLeave(query: StreamingQuery, steady: String, round: Int): Unit = {
    val names = (0 until Group).map(i => s"group-$round-$i")
    val arns = names.map(logical.create(_))
    names.foreach(logical.put)
    val began = System.nanoTime()
    logical.set(steady +: arns)
    names.foreach(awaitRow(query, _, began))
    logical.set(Seq(steady))
    await(query)(activeStreams(query).contains("1"))
  }

  private def activeStreams(query: StreamingQuery): Option[String] = Option(query.lastProgress)
    .flatMap(progress => Option(progress.sources.head.metrics.get("streamsActive")))

  /** Returns the time of the first batch after `since` with a row of the stream. */
  private def awaitRow(query: StreamingQuery, stream: String, since: Long): Long = {
    def first = batches.asScala.collectFirst { case (at, streams) if at >= since && streams(stream) => at }
    await(query)(first.nonEmpty)
    first.get
  }

  private def await(query: StreamingQuery)(condition: => Boolean): Unit = {
    val end = System.nanoTime() + Patience.toNanos(1)
    synchronized {
      while (!condition) {
        query.exception.foreach(throw _)
        if (System.nanoTime() > end) throw new IllegalStateException(s"no change in time: ${query.lastProgress}")
        wait(100)
      }
    }
  }

  /** Returns the times between two batches with rows of the stream that stays, in milliseconds. */
  private def gaps(from: Long, to: Long): Seq[Double] = {
    val times =
      batches.asScala.iterator.collect { case (at, streams) if at >= from && at <= to && streams(Steady) => at }
    times.toVector.sliding(2).collect { case Seq(one, next) => (next - one) / 1e6 }.toVector
  }
}

private object ChangingQuery {
  val Steady = "steady"
  val Group = 10
  val WarmUps = 10
  val Patience: TimeUnit = TimeUnit.MINUTES
}
