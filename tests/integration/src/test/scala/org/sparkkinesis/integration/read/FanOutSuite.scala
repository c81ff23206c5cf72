package org.sparkkinesis.integration.read

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.util.Using

import org.apache.logging.log4j.Level
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, SdkClients}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.integration.log.RecordedLog
import org.sparkkinesis.kit.stream._
import org.sparkkinesis.model.{ShardId, StartingPosition}
import org.sparkkinesis.service.{
  KinesisService, ServiceException, ShardSubscriber, ShardSubscription, SubscribeToShardEvent
}

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
    val stream = kinesis.admin.createStream("contended", 1)
    val options = efo :+ "retry.subscribeToShard.backoff.base" -> "10ms"
    val keys = CredentialSettings.Static("test", "test", None)
    val settings = ClientSettings.of(Some(kinesis.region), Some(kinesis.endpoint), keys)
    Using.resources(new RecordedLog, SdkClients.create(settings)) { (log, other) =>
      val one = readStream("contended", options: _*).load().writeStream
        .option("checkpointLocation", checkpoint()).foreachBatch(new Collected().sink).start()
      def registered = other.listStreamConsumers(stream, None).get().consumers.headOption
      await(one, "its consumer")(registered.nonEmpty)
      val rival = new Rival(other, registered.get.arn)
      def warning = log.visible.find(_.message.contains("have replaced this one"))
      try await(one, "a warning")(warning.nonEmpty)
      finally rival.close()
      assert(warning.exists(line => line.level == Level.WARN && line.message.contains("'consumerName'")), warning)
      assert(warning.exists(_.context("shard_id") == "shardId-000000000000"), warning)
      one.stop()
    }
  }

  /** Another application that subscribes to the shard again whenever its subscription ends. */
  final private class Rival(service: KinesisService, consumer: String) extends ShardSubscriber with AutoCloseable {
    @volatile private var isClosed = false
    @volatile private var call: ShardSubscription = _
    subscribe()

    private def subscribe(): Unit = {
      call = service.subscribeToShard(consumer, ShardId("shardId-000000000000"), StartingPosition.Latest, this)
      // A subscription whose events are not requested does not report its end before them.
      call.request(Long.MaxValue)
    }

    private def again(): Unit = if (!isClosed) {
      CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS).execute(() => subscribe())
    }

    override def onSubscribed(): Unit = ()
    override def onEvent(event: SubscribeToShardEvent): Unit = ()
    override def onError(error: ServiceException): Unit = again()
    override def onComplete(): Unit = again()
    override def close(): Unit = {
      isClosed = true
      call.cancel()
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
