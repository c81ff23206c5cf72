package org.sparkkinesis.integration.read

import scala.concurrent.duration._

import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._

/** The service calls of a running query do not depend on the number of its batches, as the emulator counts them. */
class SteadyStateSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")
  private val start = StartStream(Trigger.ProcessingTime(200.millis.toMillis))

  /** Returns rounds of records, each of which is at least one batch. */
  private def rounds(numbers: Range): Seq[StreamAction] =
    numbers.flatMap(n => Seq(PutRecords(20 * n until 20 * (n + 1)), AwaitRows(20 * (n + 1))))

  test("fan-out: one SubscribeToShard per shard in five minutes and no other call, for any number of batches") {
    var begun = Map.empty[String, Long]
    val actions = (start +: rounds(0 until 1)) ++ Seq(
      AwaitCalls("SubscribeToShard", 3),
      CheckCalls("SubscribeToShard" -> 3L, "GetRecords" -> 0L, "GetShardIterator" -> 0L),
      Execute("remember the calls")(run => begun = run.calls)
    ) ++ rounds(1 until 13) ++ Seq(
      Execute("each round was a batch or more")(run => assert(run.collected.ids.size >= 13)),
      Execute("the batches cost no call")(run => assert(run.calls == begun)),
      AdvanceClock(5.minutes),
      AwaitCalls("SubscribeToShard", 6)
    ) ++ rounds(13 until 19) ++ Seq(
      Execute("one new subscription a shard")(run => assert(run.calls == begun + ("SubscribeToShard" -> 6L))),
      CheckRowsNow(0 until 19 * 20)
    )
    testStream("pushed", 3, efo :+ ("shardFetchInterval" -> "1h"): _*)(actions: _*)
  }

  test("polling: one iterator per shard for the life of the query, for any number of batches") {
    var begun = Map.empty[String, Long]
    val actions = (start +: rounds(0 until 1)) ++ Seq(
      AwaitCalls("GetShardIterator", 3),
      Execute("remember the calls")(run => begun = run.calls - "GetRecords")
    ) ++ rounds(1 until 13) ++ Seq(
      Execute("the batches cost only polls")(run => assert(run.calls - "GetRecords" == begun)),
      CheckCalls("GetShardIterator" -> 3L)
    )
    testStream("polled", 3, "shardFetchInterval" -> "1h")(actions: _*)
  }

  test("shards are listed at the discovery interval, not with every batch") {
    val began = System.nanoTime()
    val actions = (start +: rounds(0 until 12)) ++ Seq(
      AwaitCalls("ListShards", 5),
      Execute("one listing at the start, one by the coordinator, and then one per second") { run =>
        val listings = run.calls("ListShards")
        val seconds = (System.nanoTime() - began) / 1000000000L
        assert(listings <= 3 + seconds, s"$listings listings in $seconds s")
      }
    )
    testStream("listed", 2, efo :+ ("shardFetchInterval" -> "1s"): _*)(actions: _*)
  }
}
