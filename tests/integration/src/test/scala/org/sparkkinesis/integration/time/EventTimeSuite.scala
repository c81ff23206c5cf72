package org.sparkkinesis.integration.time

import scala.concurrent.duration._

import org.apache.spark.sql.functions.{col, timestamp_millis, window}
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}
import org.apache.spark.sql.{DataFrame, Row}

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected
import org.sparkkinesis.model.hash.HashKeyRange

/** Windows over arrival times with a watermark: which rows are dropped as late, and which windows are complete. */
class EventTimeSuite extends SparkSuite {
  private val Minutes = 40

  /** Small responses, so that a shard is read in many calls, and no pause between them. */
  private val slowly = Seq("maxRecordsPerFetch" -> "4", "maxFetchesPerSecond" -> "100")
  private val aligned = "alignShards" -> "2m"
  private val throttled = FaultEffect.Error(400, "ProvisionedThroughputExceededException", "injected")

  /** Puts one record per minute of the service's clock into each of these shares of the hash range. */
  private def put(stream: String, minutes: Int, shares: Int, into: Seq[Int]): Unit = (1 to minutes).foreach { _ =>
    into.foreach(share =>
      kinesis.admin.putRecord(stream, "key", HashKeyRange.uniform(shares)(share).start.toString, utf8("text"))
    )
    kinesis.admin.clock.advance(1.minute)
  }

  /** Lets a shard of the stream answer slowly. */
  private def delay(stream: String, shard: String): Unit =
    kinesis.faults.add(FaultRule(FaultEffect.Delay(300), "GetRecords", stream, shard, count = 40)): Unit

  private def counts(rows: DataFrame): DataFrame = rows
    .withWatermark("approximateArrivalTimestamp", "2 minutes")
    .groupBy(window(col("approximateArrivalTimestamp"), "1 minute")).count()

  private def start(rows: DataFrame, collected: Collected, checkpoint: String): StreamingQuery = rows.writeStream
    .option("checkpointLocation", checkpoint).outputMode(OutputMode.Append()).foreachBatch(collected.sink).start()

  private def count(rows: Seq[Row]): Long = rows.map(_.getAs[Long]("count")).sum

  /** Waits until the watermark has closed the windows of this number of rows. */
  private def awaitWindows(query: StreamingQuery, collected: Collected, rows: Long): Unit =
    await(query, s"windows with $rows rows", 2.minutes)(count(collected.rows) >= rows)

  private def dropped(query: StreamingQuery): Long =
    query.recentProgress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum

  /** Puts records that move the watermark past every record so far; they do not close their own window. */
  private def closeWindows(stream: String, shares: Int): Unit = {
    kinesis.admin.clock.advance(1.hour)
    put(stream, 1, shares, 0 until shares)
  }

  /** Waits until a source of the query has processed this number of rows. */
  private def awaitRows(query: StreamingQuery, source: Int, rows: Long): Unit =
    await(query, s"$rows rows of source $source", 2.minutes)(
      query.recentProgress.map(_.sources(source).numInputRows).sum >= rows
    )

  /**
   * Reads two shards of which the service refuses the second one until `mayAnswer` returns, and returns how many rows
   * were dropped as late.
   */
  private def late(
      stream: String,
      fill: String => Unit,
      windows: DataFrame => DataFrame,
      options: (String, String)*
  )(mayAnswer: (StreamingQuery, Int) => Unit): Long = {
    kinesis.admin.createStream(stream, 2)
    fill(stream)
    val refused = kinesis.faults.add(FaultRule(throttled, "GetRecords", stream, "shardId-000000000001"))
    val collected = new Collected
    val query = start(windows(readStream(stream, options: _*).load()), collected, checkpoint())
    mayAnswer(query, refused)
    kinesis.faults.remove(refused)
    awaitRows(query, 0, 2L * (Minutes + 1))
    if (options.nonEmpty) awaitWindows(query, collected, 2L * Minutes)
    dropped(query)
  }

  private val awaitFirstShard = (query: StreamingQuery, _: Int) => awaitRows(query, 0, Minutes + 1L)

  private val awaitRefusals = (query: StreamingQuery, refused: Int) =>
    await(query, "refused calls", 2.minutes)(kinesis.faults.hits(refused) >= 3)

  test("a shard that is read later loses rows to the watermark, unless shards are aligned") {
    def fill(stream: String): Unit = {
      put(stream, Minutes, 2, Seq(0, 1))
      closeWindows(stream, 2)
    }
    assert(late("independent", fill, counts)(awaitFirstShard) > 0)
    assert(late("aligned", fill, counts, aligned)(awaitRefusals) == 0)
  }

  test("a watermark on a time in the payload needs the age of the records in addition to the time of alignShards") {
    // The records of the second shard arrive three minutes after their time.
    def putTimes(stream: String, minutes: Int): Unit = (1 to minutes).foreach { _ =>
      Seq(0 -> 0.minutes, 1 -> 3.minutes).foreach { case (share, age) =>
        val time = kinesis.admin.clock.millis - age.toMillis
        kinesis.admin.putRecord(stream, "key", HashKeyRange.uniform(2)(share).start.toString, utf8(time.toString))
      }
      kinesis.admin.clock.advance(1.minute)
    }
    def fill(stream: String): Unit = {
      putTimes(stream, Minutes)
      kinesis.admin.clock.advance(1.hour)
      putTimes(stream, 1)
    }
    def windows(rows: DataFrame): DataFrame = rows
      .withColumn("time", timestamp_millis(col("data").cast("string").cast("long")))
      .withWatermark("time", "5 minutes").groupBy(window(col("time"), "1 minute")).count()
    assert(late("payload-independent", fill, windows)(awaitFirstShard) > 0)
    assert(late("payload-aligned", fill, windows, aligned)(awaitRefusals) == 0)
  }

  test("an idle shard does not hold aligned shards") {
    kinesis.admin.createStream("one-idle", 2)
    put("one-idle", Minutes, 2, Seq(0))
    closeWindows("one-idle", 1)
    val collected = new Collected
    val query = start(counts(readStream("one-idle", slowly :+ aligned: _*).load()), collected, checkpoint())
    awaitWindows(query, collected, Minutes.toLong)
    assert(count(collected.rows) == Minutes && dropped(query) == 0)
  }

  test("windows are complete after a restart in the middle of a backlog") {
    kinesis.admin.createStream("restarted", 2)
    put("restarted", Minutes, 2, Seq(0, 1))
    val (collected, state) = (new Collected, checkpoint())
    val limited = slowly ++ Seq(aligned, "maxRecordsPerTrigger" -> "8")
    def begin() = start(counts(readStream("restarted", limited: _*).load()), collected, state)
    val first = begin()
    awaitWindows(first, collected, 8)
    first.stop()
    assert(count(collected.rows) < 2L * Minutes)
    closeWindows("restarted", 2)
    val second = begin()
    awaitWindows(second, collected, 2L * Minutes)
    assert(count(collected.rows) == 2L * Minutes && dropped(first) + dropped(second) == 0)
  }

  test("the children of a split shard are aligned with a shard that is behind their parent's end") {
    kinesis.admin.createStream("split", 2)
    put("split", Minutes / 2, 2, Seq(0, 1))
    kinesis.admin.splitShard("split", "shardId-000000000000")
    put("split", Minutes / 2, 2, Seq(0, 1))
    delay("split", "shardId-000000000001")
    closeWindows("split", 2)
    val collected = new Collected
    val query = start(counts(readStream("split", slowly :+ aligned: _*).load()), collected, checkpoint())
    awaitWindows(query, collected, 2L * Minutes)
    assert(count(collected.rows) == 2L * Minutes && dropped(query) == 0)
  }

  Seq("min" -> false, "max" -> true).foreach { case (policy, loses) =>
    test(s"of two streams, the one that is behind ${if (loses) "loses rows" else "sets the watermark"}: $policy") {
      val streams = Seq("ahead", "behind").map(name => s"$name-$policy")
      streams.foreach(kinesis.admin.createStream(_, 1))
      streams.foreach(put(_, 1, 1, Seq(0)))
      spark.conf.set("spark.sql.streaming.multipleWatermarkPolicy", policy)
      try {
        val Seq(ahead, behind) = streams.map(stream =>
          readStream(stream).load().withWatermark("approximateArrivalTimestamp", "2 minutes")
        ): @unchecked
        val all = ahead.union(behind).groupBy(window(col("approximateArrivalTimestamp"), "1 minute")).count()
        val query = start(all, new Collected, checkpoint())
        streams.indices.foreach(awaitRows(query, _, 1))
        val refused = kinesis.faults.add(FaultRule(throttled, "GetRecords", streams.last))
        streams.reverse.foreach(put(_, Minutes, 1, Seq(0)))
        awaitRows(query, 0, Minutes + 1L)
        kinesis.faults.remove(refused)
        awaitRows(query, 1, Minutes + 1L)
        assert((dropped(query) > 0) == loses)
      } finally spark.conf.unset("spark.sql.streaming.multipleWatermarkPolicy")
    }
  }
}
