package org.sparkkinesis.integration.realtime

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

/** Queries in real-time mode that read several streams. */
class RealTimeStreamsSuite extends SparkSuite {
  override protected def settings: Map[String, String] = Map(
    "spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms",
    "spark.sql.shuffle.partitions" -> "1"
  )

  private def put(stream: String, numbers: Range): Unit =
    numbers.foreach(n => kinesis.admin.putRecord(stream, s"$stream-${n % 5}", null, utf8(n.toString)): Unit)

  private def start(rows: Collected, at: String, options: Map[String, String]): StreamingQuery =
    spark.readStream.format("kinesis").options(readOptions("x") - "streamName" ++ options).load().writeStream
      .foreach(rows.writer(at)).option("checkpointLocation", at).outputMode("update")
      .trigger(Trigger.RealTime("1 second")).start()

  private def awaitCommitted(query: StreamingQuery, rows: Collected, count: Int): Unit = {
    await(query, s"$count rows")(rows.rows.size >= count)
    val batch = rows.ids.max
    await(query, s"batch $batch is committed")(Option(query.lastProgress).exists(_.batchId >= batch))
  }

  private def check(rows: Collected, count: Int): Unit = {
    assert(rows.numbers == (0 until count).toVector)
    rows.rows.groupMap(_.getAs[String]("partitionKey"))(Collected.number).foreach { case (key, seen) =>
      assert(seen == seen.sorted, s"order of $key")
    }
  }

  Seq("polling" -> Map.empty[String, String], "efo" -> Map("consumerMode" -> "efo", "consumerName" -> "live")).foreach {
    case (mode, more) =>
      test(
        s"the streams that match a pattern are read once, and one that is created later from the next start: $mode"
      ) {
        def name(stream: String) = s"live-$mode-$stream"
        Seq("a", "b").foreach(stream => kinesis.admin.createStream(name(stream), 2))
        val (rows, at, options) =
          (new Collected, checkpoint(), more + ("streamPattern" -> s"live-$mode-.*"))
        val first = start(rows, at, options)
        put(name("a"), 0 until 100)
        put(name("b"), 100 until 200)
        awaitCommitted(first, rows, 200)
        kinesis.admin.createStream(name("c"), 1)
        put(name("c"), 200 until 250)
        put(name("a"), 250 until 300)
        awaitCommitted(first, rows, 250)
        first.stop()
        assert(!rows.numbers.exists((200 until 250).contains), "a stream joins only when the query starts")

        val second = start(rows, at, options)
        awaitCommitted(second, rows, 300)
        put(name("c"), 300 until 350)
        put(name("b"), 350 until 400)
        awaitCommitted(second, rows, 400)
        second.stop()
        check(rows, 400)
      }
  }

  test("the streams of a list are read once, over a restart with another list") {
    Seq("one", "two", "three").foreach(kinesis.admin.createStream(_, 1))
    val (rows, at) = (new Collected, checkpoint())
    val first = start(rows, at, Map("streamName" -> "one,two"))
    put("one", 0 until 50)
    put("two", 50 until 100)
    awaitCommitted(first, rows, 100)
    first.stop()
    put("three", 100 until 150)
    put("one", 150 until 200)
    val second = start(rows, at, Map("streamName" -> "one,three"))
    awaitCommitted(second, rows, 200)
    second.stop()
    check(rows, 200)
  }

  test("a logical stream is refused, and the error says what to use instead") {
    val options = Map("streamId" -> "orders", "metadataService" -> s"file:${temporary.resolve("none.json")}")
    val query = start(new Collected, checkpoint(), options)
    val message = intercept[StreamingQueryException](query.awaitTermination()).getMessage
    assert(message.contains("KINESIS_REAL_TIME_UNSUPPORTED") && message.contains("streamARN"), message)
  }
}
