package org.sparkkinesis.integration.dynamic

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import org.sparkkinesis.kit.stream.Collected

/** Streaming queries on the streams whose names match a pattern, which are created and deleted meanwhile. */
class LivePatternSuite extends NumberedStreams {

  private def start(
      pattern: String,
      collected: Collected,
      checkpointed: String,
      trigger: Trigger = Trigger.ProcessingTime(0),
      more: Map[String, String] = Map.empty
  ): StreamingQuery = {
    val options = connection("x") - "streamName" ++ Map(
      "streamPattern" -> pattern,
      "metadataRefreshInterval" -> "1s",
      "shardFetchInterval" -> "1s"
    )
    startQuery(options ++ more, collected, checkpointed, trigger)
  }

  private def metric(query: StreamingQuery, name: String): Option[String] =
    Option(query.lastProgress).flatMap(_.sources.headOption).flatMap(source => Option(source.metrics.get(name)))

  private def checkExact(collected: Collected, expected: Set[String]): Unit =
    assert(collected.texts.sorted == expected.toVector.sorted, s"missing: ${expected -- collected.texts}")

  Seq("polling" -> Map.empty[String, String], "efo" -> Map("consumerMode" -> "efo", "consumerName" -> "etl")).foreach {
    case (mode, more) =>
      test(
        s"streams join while the query runs and over a restart, deleted ones leave, each record is read once: $mode"
      ) {
        def name(stream: String) = s"$mode-live-$stream"
        val (collected, at) = (new Collected, checkpoint())
        kinesis.admin.createStream(name("a"), 2)
        var all = put(name("a"), 0 until 30)
        val first = start(s"$mode-live-.*", collected, at, more = more)
        await(first, "the first stream")(collected.rows.size >= all.size)

        kinesis.admin.createStream(name("b"), 2)
        all ++= put(name("b"), 0 until 30) ++ put(name("a"), 30 until 40)
        await(first, "the stream that joined")(collected.rows.size >= all.size)
        all ++= put(name("b"), 30 until 40)
        await(first, "its later records")(collected.rows.size >= all.size)

        kinesis.admin.deleteStream(name("b"))
        await(first, "the deleted stream has left") {
          all ++= put(name("a"), all.size until all.size + 1)
          metric(first, "streamsActive").contains("1")
        }
        assert(Seq("streamsAdded", "streamsRemoved").map(metric(first, _)) == Seq(Some("1"), Some("1")))
        await(first, "the stream that stays")(collected.rows.size >= all.size)
        first.stop()
        checkExact(collected, all)

        kinesis.admin.createStream(name("c"), 1)
        all ++= put(name("c"), 0 until 20) ++ put(name("a"), 1000 until 1010)
        val second = start(s"$mode-live-.*", collected, at, more = more)
        await(second, "the stream that was created meanwhile")(collected.rows.size >= all.size)
        second.stop()
        checkExact(collected, all)
      }
  }

  test("AvailableNow reads the streams that match when it starts, across its runs") {
    val (collected, at) = (new Collected, checkpoint())
    kinesis.admin.createStream("now-a", 2)
    def run(): Unit = {
      val query = start("now-.*", collected, at, Trigger.AvailableNow())
      assert(query.awaitTermination(60000))
    }
    var all = put("now-a", 0 until 20)
    run()
    checkExact(collected, all)
    kinesis.admin.createStream("now-b", 1)
    all ++= put("now-b", 0 until 20) ++ put("now-a", 20 until 30)
    run()
    checkExact(collected, all)
    all ++= put("now-b", 20 until 30)
    run()
    checkExact(collected, all)
  }

  test("a stream that is deleted unread while the query is stopped is data loss, which can be accepted") {
    val (collected, at) = (new Collected, checkpoint())
    Seq("lost-a", "lost-b").foreach(kinesis.admin.createStream(_, 1))
    var all = put("lost-a", 0 until 10) ++ put("lost-b", 0 until 10)
    assert(start("lost-.*", collected, at, Trigger.AvailableNow()).awaitTermination(60000))
    checkExact(collected, all)
    put("lost-b", 10 until 20)
    kinesis.admin.deleteStream("lost-b")
    all ++= put("lost-a", 10 until 20)
    val failed = start("lost-.*", collected, at, Trigger.AvailableNow())
    val failure = intercept[StreamingQueryException](failed.awaitTermination(60000))
    assert(failure.getMessage.contains("KINESIS_DATA_LOSS"), failure.getMessage)
    val lenient = Map("failOnDataLoss" -> "false")
    assert(start("lost-.*", collected, at, Trigger.AvailableNow(), lenient).awaitTermination(60000))
    checkExact(collected, all)
  }
}
