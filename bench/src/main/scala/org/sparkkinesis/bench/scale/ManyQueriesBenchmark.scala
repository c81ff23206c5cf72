package org.sparkkinesis.bench.scale

import java.nio.file.Files
import java.util.UUID
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, Executors, TimeUnit}

import scala.util.Using

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryListener, Trigger}

import org.sparkkinesis.bench.{Checkpoints, Rounds}
import org.sparkkinesis.emulator.admin.EmulatorAdmin
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments

/**
 * Starts many queries at the same time in one driver, with the quotas of an account, each with a stream of its own:
 * `ManyQueriesBenchmark [--queries N] [--shards N] [--records N]`. All but one have nothing to read. The busy one reads
 * a backlog of `records` from `shards` shards, once without and once beside the others.
 *
 * The last line is one JSON object: `started` is the number of queries whose first trigger ended, `failed` of those
 * that ended with an error, `start_seconds` the time until the last one has started, and `busy_vs_alone` the rate of
 * the busy query beside the idle ones, relative to its rate without them.
 */
object ManyQueriesBenchmark {
  private val Payload = Array.fill[Byte](10000)('x')
  private val Patience = 10L

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val idle = arguments.number("queries", 200) - 1
    val shards = arguments.number("shards", 4)
    val records = arguments.number("records", 40000)
    val spark = SparkSession.builder().master("local[2]").appName("many-queries").config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2").config(Checkpoints.OnLocalDisk).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try
      Using.resource(KinesisEmulator.start(EmulatorConfig())) { emulator =>
        val watch = new Watch
        spark.streams.addListener(watch)
        def busyRate(name: String): Double = {
          load(emulator.admin, name, shards, records)
          watch.rate(start(spark, emulator, name), records)
        }
        val alone = busyRate("alone")
        (0 until idle).foreach(index => emulator.admin.createStream(s"idle-$index", 1))
        val began = System.nanoTime()
        val started = startAll(spark, emulator, idle, watch)
        val seconds = (System.nanoTime() - began) / 1e9
        val beside = busyRate("beside")
        val failed = watch.failed
        spark.streams.active.foreach(_.stop())
        println(
          Json.render(
            Json.obj(
              "queries" -> Json.num(idle + 1L),
              "started" -> Json.num(started + 1L),
              "failed" -> Json.num(failed.toLong),
              "start_seconds" -> Rounds.number(seconds, 1),
              "busy_vs_alone" -> Rounds.number(beside / alone, 3),
              "alone_per_second" -> Rounds.number(alone, 0),
              "beside_per_second" -> Rounds.number(beside, 0)
            )
          )
        )
      }
    finally spark.stop()
  }

  private def load(admin: EmulatorAdmin, name: String, shards: Int, records: Int): Unit = {
    admin.createStream(name, shards)
    (0 until records).foreach { index =>
      val hashKey = BigInt(2).pow(128) / shards * (index % shards) + 1
      admin.putRecord(name, s"key-$index", hashKey.toString, Payload)
    }
  }

  private def start(spark: SparkSession, emulator: KinesisEmulator, stream: String): StreamingQuery =
    spark.readStream.format("kinesis").options(
      Map(
        "streamName" -> stream,
        "endpoint" -> emulator.endpoint.toString,
        "region" -> "us-east-1",
        "awsAccessKey" -> "AKIDEXAMPLE",
        "awsSecretKey" -> "secret",
        "initialPosition" -> "trim_horizon"
      )
    ).load().writeStream.format("noop").option("checkpointLocation", Files.createTempDirectory("bench").toString)
      .trigger(Trigger.ProcessingTime(1, TimeUnit.SECONDS)).start()

  /** Starts queries at the same time, and returns how many have ended a trigger. */
  private def startAll(spark: SparkSession, emulator: KinesisEmulator, queries: Int, watch: Watch): Int = {
    watch.expect(queries)
    val threads = Executors.newFixedThreadPool(queries)
    val starts = (0 until queries).map(index =>
      threads.submit(() => start(spark, emulator, s"idle-$index"))
    )
    try {
      starts.foreach(_.get(Patience, TimeUnit.MINUTES))
      watch.awaitStarted()
    } finally threads.shutdown()
  }

  /** Follows the queries of the session. */
  final private class Watch extends StreamingQueryListener {
    private val ready, ended = ConcurrentHashMap.newKeySet[UUID]
    private val withError = ConcurrentHashMap.newKeySet[UUID]
    @volatile private var remaining = new CountDownLatch(0)
    @volatile private var reading = Option.empty[Reading]

    def failed: Int = withError.size

    def expect(queries: Int): Unit = {
      ready.clear()
      ended.clear()
      remaining = new CountDownLatch(queries)
    }

    /** Waits until every expected query has ended its first trigger or has failed, and returns how many are ready. */
    def awaitStarted(): Int = {
      if (!remaining.await(Patience, TimeUnit.MINUTES)) println(s"${remaining.getCount} queries did not start")
      ready.size
    }

    /** Returns the rows per second of a query after the first third, and stops it. */
    def rate(query: StreamingQuery, rows: Int): Double = {
      val found = new Reading(query.id, rows.toLong)
      reading = Some(found)
      val isDone = found.done.await(Patience, TimeUnit.MINUTES)
      query.stop()
      if (!isDone) throw new IllegalStateException(s"the busy query read ${found.total} of $rows rows")
      found.perSecond
    }

    private def settle(id: UUID): Unit = if (ended.add(id)) remaining.countDown()

    override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit = ()

    override def onQueryIdle(event: StreamingQueryListener.QueryIdleEvent): Unit = {
      ready.add(event.id)
      settle(event.id)
    }

    override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit =
      reading.filter(_.id == event.progress.id).foreach(_.add(event.progress.numInputRows))

    override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit =
      if (event.exception.nonEmpty) {
        println(s"a query failed: ${event.exception.get.linesIterator.take(2).mkString(" ")}")
        withError.add(event.id)
        settle(event.id)
      }
  }

  /** Counts the rows of a query. The first third is not timed, because records were fetched before the first batch. */
  final private class Reading(val id: UUID, expected: Long) {
    private var first, last, before = 0L
    @volatile var total = 0L
    val done = new CountDownLatch(1)

    def add(rows: Long): Unit = if (rows > 0) {
      last = System.nanoTime()
      total += rows
      if (total >= expected / 3 && first == 0) {
        first = last
        before = total
      }
      if (total >= expected) done.countDown()
    }

    def perSecond: Double = (total - before) / ((last - first) / 1e9)
  }
}
