package org.sparkkinesis.integration.read

import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}
import org.apache.spark.sql.DataFrame

import org.sparkkinesis.integration.SparkSuite

class FanOutSuite extends SparkSuite {
  private def put(stream: String, numbers: Range): Unit =
    numbers.foreach(i => kinesis.admin.putRecord(stream, s"key-${i % 17}", utf8(i.toString)))

  private def start(
      stream: String,
      collected: Collected,
      checkpoint: String,
      options: (String, String)*
  ): StreamingQuery =
    readStream(
      stream,
      options: _*
    ).load().writeStream.option("checkpointLocation", checkpoint).foreachBatch(collected.sink).start()

  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  test(
    "records are pushed: one subscription a shard over many batches, no GetRecords, and the consumer is deregistered at stop"
  ) {
    kinesis.admin.createStream("pushed", 2)
    put("pushed", 0 until 300)
    val collected = new Collected
    val query = start("pushed", collected, checkpoint(), efo: _*)
    await(query, "300 rows")(collected.rows.size >= 300)
    (1 to 10).foreach { round =>
      put("pushed", 300 * round until 300 * round + 300)
      await(query, s"round $round")(collected.rows.size >= 300 * round + 300)
    }
    assert(collected.texts.map(_.toInt).sorted == (0 until 3300).toVector)
    assert(collected.ids.size >= 11, s"${collected.ids.size} batches")
    assert(kinesis.calls.count(operation = "SubscribeToShard", stream = "pushed") == 2L)
    assert(kinesis.calls.count(operation = "GetRecords", stream = "pushed") == 0L)
    assert(kinesis.calls.count(operation = "GetShardIterator", stream = "pushed") == 0L)
    query.stop()
    assert(kinesis.calls.count(operation = "RegisterStreamConsumer", stream = "pushed") == 1L)
    assert(kinesis.calls.count(operation = "DeregisterStreamConsumer", stream = "pushed") == 1L)
  }

  test("two reads with one consumer are refused, as the sides of a join of a stream with itself are; names of their own help") {
    kinesis.admin.createStream("joined", 1)
    put("joined", 0 until 20)
    def side(consumer: String) = readStream("joined", "consumerMode" -> "efo", "consumerName" -> consumer).load()
      .selectExpr("CAST(data AS STRING) AS text", "shardId")
    def join(left: DataFrame, right: DataFrame, collected: Collected): StreamingQuery =
      left.as("l").join(right.as("r"), expr("l.text = r.text")).selectExpr("CAST(l.text AS BINARY) AS data").writeStream
        .option("checkpointLocation", checkpoint()).foreachBatch(collected.sink).start()
    val one = side("same")
    val refused = intercept[StreamingQueryException](join(one, one, new Collected).processAllAvailable())
    assert(refused.getMessage.contains("KINESIS_CONSUMER_IN_USE"), refused.getMessage)
    // The read that was there first has ended, too: its consumer is free and can be registered again.
    val rows = new Collected
    val query = join(side("same"), side("other"), rows)
    await(query, "each record finds itself")(rows.texts.size >= 20)
    assert(rows.texts.map(_.toInt).sorted == (0 until 20).toVector)
    query.stop()
  }

  test("a checkpoint goes from polling to fan-out and back") {
    kinesis.admin.createStream("switched", 2)
    val at = checkpoint()
    val runs = Seq(Seq.empty, efo, Seq.empty).zipWithIndex.flatMap { case (mode, run) =>
      put("switched", 100 * run until 100 * run + 100)
      val collected = new Collected
      val query = readStream("switched", mode: _*).load().writeStream.option(
        "checkpointLocation",
        at
      ).trigger(Trigger.AvailableNow()).foreachBatch(collected.sink).start()
      assert(query.awaitTermination(60000))
      collected.texts.map(_.toInt)
    }
    assert(runs.sorted.toVector == (0 until 300).toVector)
  }

  test("a split is followed, and its children come after it") {
    kinesis.admin.createStream("split", 1)
    put("split", 0 until 100)
    val collected = new Collected
    val query = start("split", collected, checkpoint(), efo: _*)
    await(query, "100 rows")(collected.rows.size >= 100)
    kinesis.admin.splitShard("split", "shardId-000000000000")
    put("split", 100 until 200)
    await(query, "200 rows")(collected.rows.size >= 200)
    assert(collected.texts.map(_.toInt).sorted == (0 until 200).toVector)
  }
}
