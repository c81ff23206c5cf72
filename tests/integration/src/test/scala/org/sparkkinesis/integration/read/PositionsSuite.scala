package org.sparkkinesis.integration.read

import java.time.{Instant, LocalDateTime, ZoneId}

import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

/** Positions for each stream, relative times, and times in the session's time zone. */
class PositionsSuite extends SparkSuite {
  private def put(stream: String, texts: String*): Unit =
    texts.foreach(text => kinesis.admin.putRecord(stream, text, utf8(text)))

  /** Waits until records that are put now arrive later than those before. Returns a time in between. */
  private def cut(): Instant = {
    val before = System.currentTimeMillis()
    while (System.currentTimeMillis() <= before + 1) Thread.onSpinWait()
    Instant.ofEpochMilli(before + 1)
  }

  private def batch(stream: String, options: (String, String)*): Set[String] =
    spark.read.format("aws-kinesis").options(connection(stream) ++ options).load()
      .selectExpr("CAST(data AS STRING)").collect().map(_.getString(0)).toSet

  test("a batch read has a start and an end for each stream of a list") {
    Seq("first", "second", "third").foreach { stream =>
      kinesis.admin.createStream(stream, 1)
      put(stream, s"$stream-1")
    }
    val at = cut()
    Seq("first", "second", "third").foreach(stream => put(stream, s"$stream-2"))
    val found = batch(
      "first,second,third",
      "initialPosition" -> s"""{"first": "$at", "second": {"shardId-000000000000": "earliest"}, "*": "1 hour ago"}""",
      "endingPosition" -> s"""{"third": "${at.minusMillis(1)}"}"""
    )
    assert(found == Set("first-2", "second-1", "second-2", "third-1"))
  }

  test("a time without a zone is in the time zone of the session, and a number is in epoch milliseconds") {
    kinesis.admin.createStream("zoned", 1)
    put("zoned", "old")
    val at = cut()
    put("zoned", "new")
    val before = spark.conf.get("spark.sql.session.timeZone")
    try Seq("Asia/Tokyo", "America/New_York").foreach { zone =>
        spark.conf.set("spark.sql.session.timeZone", zone)
        val local = LocalDateTime.ofInstant(at, ZoneId.of(zone)).toString.replace('T', ' ')
        assert(batch("zoned", "initialPosition" -> local) == Set("new"), zone)
        assert(
          batch("zoned", "endingPosition" -> LocalDateTime.ofInstant(at.minusMillis(1), ZoneId.of(zone)).toString) ==
            Set("old"),
          zone
        )
      }
    finally spark.conf.set("spark.sql.session.timeZone", before)
    assert(batch("zoned", "initialPosition" -> at.toEpochMilli.toString) == Set("new"))
  }

  test("a relative position is that of the query's first start, also after a restart") {
    kinesis.admin.createStream("relative", 2)
    put("relative", (0 until 20).map(_.toString): _*)
    val (at, collected) = (checkpoint(), new Collected)
    def run(): Unit = {
      val query = readStream("relative", "initialPosition" -> """{"relative": "1 hour ago"}""").load().writeStream
        .option("checkpointLocation", at).trigger(Trigger.AvailableNow()).foreachBatch(collected.sink).start()
      assert(query.awaitTermination(60000))
    }
    run()
    put("relative", (20 until 30).map(_.toString): _*)
    run()
    assert(collected.texts.map(_.toInt).sorted == (0 until 30))
  }
}
