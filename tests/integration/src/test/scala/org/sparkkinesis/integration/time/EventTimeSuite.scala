package org.sparkkinesis.integration.time

import scala.concurrent.duration._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, timestamp_millis, window}
import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._
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

  private def counts(rows: DataFrame): DataFrame = rows
    .withWatermark("approximateArrivalTimestamp", "2 minutes")
    .groupBy(window(col("approximateArrivalTimestamp"), "1 minute")).count()

  private def count(run: StreamRun): Long = run.collected.rows.map(_.getAs[Long]("count")).sum

  private def dropped(query: StreamingQuery): Long =
    query.recentProgress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum

  private def sourceRows(query: StreamingQuery, source: Int): Long =
    query.recentProgress.map(_.sources(source).numInputRows).sum

  /** Puts records that move the watermark past every record so far; they do not close their own window. */
  private def closeWindows(stream: String, shares: Int): Unit = {
    kinesis.admin.clock.advance(1.hour)
    put(stream, 1, shares, 0 until shares)
  }

  private def fill(minutes: Int, into: Seq[Int]) =
    Execute(s"$minutes minutes of records")(run => put(run.stream, minutes, 2, into))

  private def putNewer(shares: Int) = Execute("close the windows")(run => closeWindows(run.stream, shares))

  /** Waits until the watermark has closed the windows of this number of rows. */
  private def awaitWindows(rows: Int) = Await(s"windows with $rows rows")(count(_) >= rows)

  /** Checks that the closed windows have this number of rows, and that no row was late for the latest start. */
  private def checkWindows(rows: Int) = Execute(s"no row of $rows is late") { run =>
    assert(count(run) == rows && dropped(run.query) == 0)
  }

  /** Waits until the query has read this number of rows. */
  private def awaitRead(rows: Int) = Await(s"$rows rows of the stream")(run => sourceRows(run.query, 0) >= rows)

  /**
   * Reads two shards of which the service refuses the second one until `mayAnswer` is done, and returns how many rows
   * were dropped as late.
   */
  private def late(
      stream: String,
      fill: String => Unit,
      windows: DataFrame => DataFrame,
      options: (String, String)*
  )(mayAnswer: StreamAction): Long = dropped(
    testStream(stream, 2, options: _*)(
      Execute("put records")(run => fill(run.stream)),
      AddFault(throttled, "GetRecords", shard = Some(1)),
      StartStream(query = windows),
      mayAnswer,
      ClearFaults,
      awaitRead(2 * (Minutes + 1)),
      awaitWindows(if (options.nonEmpty) 2 * Minutes else 0)
    ).query
  )

  private val awaitFirstShard = awaitRead(Minutes + 1)

  test("a shard that is read later loses rows to the watermark, unless shards are aligned") {
    def fill(stream: String): Unit = {
      put(stream, Minutes, 2, Seq(0, 1))
      closeWindows(stream, 2)
    }
    assert(late("independent", fill, counts)(awaitFirstShard) > 0)
    assert(late("aligned", fill, counts, aligned)(AwaitFault(3)) == 0)
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
    assert(late("payload-aligned", fill, windows, aligned)(AwaitFault(3)) == 0)
  }

  test("an idle shard does not hold aligned shards") {
    testStream("one-idle", 2, slowly :+ aligned: _*)(
      fill(Minutes, into = Seq(0)),
      putNewer(shares = 1),
      StartStream(query = counts),
      awaitWindows(Minutes),
      checkWindows(Minutes)
    )
  }

  test("windows are complete after a restart in the middle of a backlog") {
    testStream("restarted", 2, slowly ++ Seq(aligned, "maxRecordsPerTrigger" -> "8"): _*)(
      fill(Minutes, into = Seq(0, 1)),
      StartStream(query = counts),
      awaitWindows(8),
      StopStream,
      Execute("the backlog is not read, and no row was late") { run =>
        assert(count(run) < 2L * Minutes && dropped(run.query) == 0)
      },
      putNewer(shares = 2),
      StartStream(query = counts),
      awaitWindows(2 * Minutes),
      checkWindows(2 * Minutes)
    )
  }

  test("the children of a split shard are aligned with a shard that is behind their parent's end") {
    testStream("split", 2, slowly :+ aligned: _*)(
      fill(Minutes / 2, into = Seq(0, 1)),
      Split(0),
      fill(Minutes / 2, into = Seq(0, 1)),
      AddFault(FaultEffect.Delay(300), "GetRecords", shard = Some(1), count = 40),
      putNewer(shares = 2),
      StartStream(query = counts),
      awaitWindows(2 * Minutes),
      checkWindows(2 * Minutes)
    )
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
        val query = all.writeStream.option("checkpointLocation", checkpoint())
          .foreachBatch((new Collected).sink).start()
        def awaitRows(source: Int, rows: Int): Unit =
          await(query, s"$rows rows of source $source")(sourceRows(query, source) >= rows)
        streams.indices.foreach(awaitRows(_, 1))
        val refused = kinesis.faults.add(FaultRule(throttled, "GetRecords", streams.last))
        streams.reverse.foreach(put(_, Minutes, 1, Seq(0)))
        awaitRows(0, Minutes + 1)
        kinesis.faults.remove(refused)
        awaitRows(1, Minutes + 1)
        assert((dropped(query) > 0) == loses)
      } finally spark.conf.unset("spark.sql.streaming.multipleWatermarkPolicy")
    }
  }
}
