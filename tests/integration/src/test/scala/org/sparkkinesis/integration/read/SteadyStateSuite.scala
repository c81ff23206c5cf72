package org.sparkkinesis.integration.read

import scala.concurrent.duration._

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import org.sparkkinesis.integration.SparkSuite

/** What a running query costs the service does not depend on how many batches it runs; counted by the emulator. */
class SteadyStateSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  private def start(stream: String, collected: Collected, options: (String, String)*): StreamingQuery =
    readStream(stream, options: _*).load().writeStream
      .option("checkpointLocation", checkpoint())
      .trigger(Trigger.ProcessingTime(200.millis.toMillis))
      .foreachBatch(collected.sink).start()

  /** Each round is a batch of its own, or more. */
  private def rounds(stream: String, query: StreamingQuery, collected: Collected, count: Int): Unit =
    (1 to count).foreach { _ =>
      val before = collected.rows.size
      (0 until 20).foreach(i => kinesis.admin.putRecord(stream, s"key-$i", utf8("x")))
      await(query, s"20 rows after $before")(collected.rows.size >= before + 20)
    }

  private def calls(stream: String): Map[String, Long] =
    kinesis.calls.snapshot.toSeq.filter(_._1.stream == stream).groupMapReduce(_._1.operation)(_._2)(_ + _)

  test("fan-out: one SubscribeToShard a shard in five minutes, and nothing else, however many batches run") {
    kinesis.admin.createStream("pushed", 3)
    val collected = new Collected
    val query = start("pushed", collected, efo :+ ("shardFetchInterval" -> "1d"): _*)
    rounds("pushed", query, collected, 1)
    await(query, "a subscription for each shard")(calls("pushed")("SubscribeToShard") >= 3)
    val begun = calls("pushed")
    assert(begun("SubscribeToShard") == 3L)
    rounds("pushed", query, collected, 12)
    assert(collected.ids.size >= 13, collected.ids.toString)
    assert(calls("pushed") == begun)

    kinesis.admin.clock.advance(5.minutes)
    await(query, "a new subscription for each shard")(calls("pushed")("SubscribeToShard") >= 6)
    rounds("pushed", query, collected, 6)
    assert(calls("pushed") == begun + ("SubscribeToShard" -> 6L))
    assert(!begun.contains("GetRecords") && !begun.contains("GetShardIterator"), begun.toString)
    assert(collected.rows.size == 19 * 20)
  }

  test("polling: one iterator a shard for the life of the query, however many batches run") {
    kinesis.admin.createStream("polled", 3)
    val collected = new Collected
    val query = start("polled", collected, "shardFetchInterval" -> "1d")
    rounds("polled", query, collected, 1)
    await(query, "an iterator for each shard")(calls("polled")("GetShardIterator") >= 3)
    val begun = calls("polled") - "GetRecords"
    rounds("polled", query, collected, 12)
    assert(calls("polled") - "GetRecords" == begun)
    assert(begun("GetShardIterator") == 3L)
  }

  test("shards are listed at the interval of discovery, not with every batch") {
    kinesis.admin.createStream("listed", 2)
    val collected = new Collected
    val began = System.nanoTime()
    val query = start("listed", collected, efo :+ ("shardFetchInterval" -> "1s"): _*)
    rounds("listed", query, collected, 12)
    await(query, "a few listings")(calls("listed")("ListShards") >= 5)
    val seconds = (System.nanoTime() - began) / 1000000000L
    // One to begin with, one by the coordinator, and then one each second.
    val listings = calls("listed")("ListShards")
    assert(listings <= 3 + seconds, s"$listings listings in $seconds s")
  }
}
