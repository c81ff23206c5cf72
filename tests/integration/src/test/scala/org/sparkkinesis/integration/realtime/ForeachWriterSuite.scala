package org.sparkkinesis.integration.realtime

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import org.sparkkinesis.integration.write.SinkFixture
import org.sparkkinesis.{KinesisForeachWriter, KinesisQueries}

/** Writing through Spark's `foreach`, which passes Spark's check of sinks for real-time mode. */
class ForeachWriterSuite extends SinkFixture {
  override protected def settings: Map[String, String] =
    Map("spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms")

  private def source(stream: String): DataFrame = readStream(stream).load().select("partitionKey", "data")

  private def start(rows: DataFrame, trigger: Trigger, at: String, options: (String, String)*): StreamingQuery =
    rows.writeStream.foreach(KinesisForeachWriter(rows.schema, target ++ options))
      .option("checkpointLocation", at).outputMode("update").trigger(trigger).start()

  private def put(stream: String, numbers: Seq[Int]): Seq[(String, String)] = numbers.map { n =>
    kinesis.admin.putRecord(stream, s"key-${n % 3}", null, utf8(n.toString))
    s"key-${n % 3}" -> n.toString
  }

  private def create(streams: String*): Unit = streams.foreach(kinesis.admin.createStream(_, 1))

  test("rows are sent while a real-time batch runs, with Spark's check of sinks") {
    create("live", "live-copies")
    val query = start(source("live"), Trigger.RealTime("1 hour"), checkpoint(), "streamName" -> "live-copies")
    val first = put("live", 0 until 20)
    await(query, "the copies")(read("live-copies").size == 20)
    val all = first ++ put("live", 20 until 40)
    await(query, "the copies")(read("live-copies").size == 40)
    assert(Option(query.lastProgress).forall(_.batchId < 0), "the first batch still runs")
    assert(KinesisQueries.stopGracefully(query, 60000))
    // Without the option `ordering`, a request may overtake another one.
    assert(read("live-copies").sorted == all.sorted)
  }

  test("a batch is committed when all of its rows are stored, and the next run repeats none of them") {
    create("drained", "drained-copies")
    val at = checkpoint()
    val all = (0 until 3).flatMap { round =>
      val sent = put("drained", round * 100 until (round + 1) * 100)
      start(source("drained"), Trigger.AvailableNow(), at, "streamName" -> "drained-copies", "sendWhenIdle" -> "false")
        .awaitTermination()
      sent
    }
    assert(read("drained-copies").sorted == all.sorted)
  }

  test("an invalid row fails its batch with its condition, or goes to the dead-letter stream") {
    create("invalid", "invalid-copies", "invalid-letters")
    put("invalid", 0 until 3)
    val rows = source("invalid").selectExpr("if(string(data) = '1', null, partitionKey) AS partitionKey", "data")
    val to = "streamName" -> "invalid-copies"
    val failing = start(rows, Trigger.AvailableNow(), checkpoint(), to)
    assert(conditionOf(throw intercept[StreamingQueryException](failing.awaitTermination()))._1 ==
      "KINESIS_SINK_ROW_INVALID")
    val before = read("invalid-copies").size
    start(
      rows,
      Trigger.AvailableNow(),
      checkpoint(),
      to,
      "onInvalidRecord" -> "deadLetter",
      "deadLetterStream" -> "invalid-letters"
    ).awaitTermination()
    assert(read("invalid-copies").drop(before).sorted == Seq("key-0" -> "0", "key-2" -> "2"))
    assert(kinesis.admin.records("invalid-letters").size == 1)
  }

  test("options that need a part in Spark's plan or commit are refused before the query starts") {
    create("refused", "refused-copies")
    val rows = source("refused")
    def problem(options: (String, String)*) =
      conditionOf(KinesisForeachWriter(rows.schema, target ++ options))
    val to = "streamName" -> "refused-copies"
    val cases = Seq(
      "deadLetterTable" -> Seq(to, "onInvalidRecord" -> "deadLetter", "deadLetterTable" -> "letters"),
      "orderBy" -> Seq(to, "ordering" -> "key", "distributeByKey" -> "false", "orderBy" -> "data"),
      "distributeByKey" -> Seq(to, "ordering" -> "key"),
      "streamId" -> Seq("metadataService" -> "file:///none/streams.json", "streamId" -> "orders")
    )
    cases.foreach { case (option, options) =>
      val (condition, message) = problem(options: _*)
      assert(condition == "KINESIS_OPTION_CONFLICT" && message.contains(s"'$option' and"), s"$option: $message")
    }
    assert(problem("streamName" -> "missing")._1 == "KINESIS_STREAM_NOT_FOUND")
    assert(problem(to, "sendWhenIdel" -> "true")._1 == "KINESIS_OPTION_UNKNOWN")
    KinesisForeachWriter(rows.schema, target ++ Seq(to, "ordering" -> "key", "distributeByKey" -> "false"))
  }
}
