package org.sparkkinesis.integration.read

import scala.util.Using

import org.apache.logging.log4j.Level
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.integration.log.RecordedLog
import org.sparkkinesis.kit.stream._

class FanOutSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  test(
    "with registration=lazy the consumer is registered at the start and deregistered at the stop, and records are " +
      "pushed with one subscription per shard and no GetRecords"
  ) {
    val rounds = (0 to 10).flatMap { round =>
      Seq(PutRecords(300 * round until 300 * (round + 1)), CheckRows(0 until 300 * (round + 1)))
    }
    testStream("pushed", 2, efo :+ ("registration" -> "lazy"): _*)(
      StartStream() +: rounds :+
        Execute("each round was a batch or more")(run => assert(run.collected.ids.size >= 11)) :+
        CheckCalls("SubscribeToShard" -> 2L, "GetRecords" -> 0L, "GetShardIterator" -> 0L) :+
        StopStream :+
        CheckCalls("RegisterStreamConsumer" -> 1L, "DeregisterStreamConsumer" -> 1L): _*
    )
  }

  test(
    "two reads with one consumer, as in a self-join, are an error; separate consumer names work"
  ) {
    kinesis.admin.createStream("joined", 1)
    (0 until 20).foreach(i => kinesis.admin.putRecord("joined", s"key-$i", utf8(i.toString)))
    def side(consumer: String) = readStream("joined", "consumerMode" -> "efo", "consumerName" -> consumer).load()
      .selectExpr("CAST(data AS STRING) AS text", "shardId")
    def join(left: DataFrame, right: DataFrame, collected: Collected): StreamingQuery =
      left.as("l").join(right.as("r"), expr("l.text = r.text")).selectExpr("CAST(l.text AS BINARY) AS data").writeStream
        .option("checkpointLocation", checkpoint()).foreachBatch(collected.sink).start()
    val one = side("same")
    val refused = intercept[StreamingQueryException](join(one, one, new Collected).awaitTermination())
    assert(refused.getMessage.contains("KINESIS_CONSUMER_IN_USE"), refused.getMessage)
    // The first read has ended as well, so its consumer can be registered again.
    val rows = new Collected
    val query = join(side("same"), side("other"), rows)
    await(query, "the join of each record with itself")(rows.texts.size >= 20)
    assert(rows.numbers == (0 until 20).toVector)
    query.stop()
  }

  test("two queries of different applications with one consumer are warned, and the warning names the fix") {
    kinesis.admin.createStream("contended", 1)
    def query(endpoint: String): StreamingQuery = {
      val options = efo :+ "endpoint" -> endpoint :+ "retry.subscribeToShard.backoff.base" -> "10ms"
      readStream("contended", options: _*).load().writeStream
        .option("checkpointLocation", checkpoint()).foreachBatch(new Collected().sink).start()
    }
    Using.resource(new RecordedLog) { log =>
      // Two spellings of one address: the connector cannot know that both reads use the same consumer.
      val one = query(kinesis.endpoint)
      val other = query(kinesis.endpoint.replace("127.0.0.1", "localhost"))
      def warning = log.visible.find(_.message.contains("have replaced this one"))
      await(one, "a warning") {
        other.exception.foreach(failure => throw failure)
        warning.nonEmpty
      }
      assert(warning.exists(line => line.level == Level.WARN && line.message.contains("'consumerName'")), warning)
      assert(warning.exists(_.context("shard_id") == "shardId-000000000000"), warning)
      one.stop()
      other.stop()
    }
  }

  test("a checkpoint can change from polling to fan-out and back") {
    testStream("switched", 2)(
      PutRecords(0 until 100),
      StartStream(Trigger.AvailableNow()),
      AwaitEnd,
      CheckRowsNow(0 until 100),
      PutRecords(100 until 200),
      StartStream(Trigger.AvailableNow(), efo.toMap),
      AwaitEnd,
      CheckRowsNow(0 until 200),
      PutRecords(200 until 300),
      StartStream(Trigger.AvailableNow()),
      AwaitEnd,
      CheckRowsNow(0 until 300)
    )
  }

  test("the children of a split are read after their parent") {
    testStream("split", 1, efo: _*)(
      PutRecords(0 until 100),
      StartStream(),
      CheckRows(0 until 100),
      Split(0),
      PutRecords(100 until 200),
      CheckRows(0 until 200)
    )
  }
}
