package org.sparkkinesis.spark.read.query

import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.plan.PlannedBatch
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.coordinator.state.FetchRates
import org.sparkkinesis.spark.coordinator.{CoordinatorStatus, ShardStatus}
import org.sparkkinesis.suite.TimedSuite

class SourceMetricsSuite extends TimedSuite {
  private def shard(index: Int, stream: String = "orders") = StreamShard(stream, ShardId.ofIndex(index.toLong))
  private val status = new CoordinatorStatus(
    behind = Seq(10L, 40L, 100L).zipWithIndex.map { case (millis, i) => ShardStatus(shard(i), millis, None) },
    fetchedMillisBehindLatest = Seq(0, 4, 5),
    openShards = 3,
    endedShards = 2,
    shardsByExecutor = Map("2" -> 1, "1" -> 2),
    totals = Map("records" -> 91, "bufferedBytes" -> 4096),
    withheldRows = Some(12)
  )

  test("metrics contain the current lag and shards, the counters of all consumers, and the latest batch") {
    val found = SourceMetrics.of(status, Some(PlannedBatch(SourceOffset(Nil), rows = 7, bytes = 700)), 12345678)
    assert(
      found ==
        Map(
          "minMsBehindLatest" -> "10",
          "avgMsBehindLatest" -> "50",
          "maxMsBehindLatest" -> "100",
          "minFetchedMsBehindLatest" -> "0",
          "avgFetchedMsBehindLatest" -> "3",
          "maxFetchedMsBehindLatest" -> "5",
          "worstShards" ->
            "shardId-000000000002: 100 ms; shardId-000000000001: 40 ms; shardId-000000000000: 10 ms",
          "numTotalShards" -> "5",
          "numOpenShards" -> "3",
          "numClosedShards" -> "2",
          "shardsByExecutor" -> "1: 2, 2: 1",
          "plannedRows" -> "7",
          "plannedBytes" -> "700",
          "planningMicros" -> "12345",
          "withheldRows" -> "12",
          "records" -> "91",
          "bufferedBytes" -> "4096"
        )
    )
  }

  test("there are no lag metrics before the first response, and no batch metrics before the first batch") {
    val found = SourceMetrics.of(status.copy(behind = Nil, fetchedMillisBehindLatest = Nil), None, 0)
    assert(found.keySet.filter(name => name.contains("Behind") || name.startsWith("plan")) == Set.empty[String])
  }

  test(
    "the five shards that are furthest behind are named with their rates, and with their streams if there are more"
  ) {
    val rate =
      Some(FetchRates(readsPerSecond = 4, rowsPerSecond = 512.4, bytesPerSecond = 1024000, bytesPerRead = 256000))
    val all = (0 until 7).map(i => ShardStatus(shard(i), i * 1000L, rate))
    def worst(shards: Seq[ShardStatus]) = SourceMetrics.of(status.copy(behind = shards), None, 0).get("worstShards")
    val text = worst(all).get.split("; ").toVector
    assert(text.size == 5)
    assert(text.head == "shardId-000000000006: 6000 ms, 256000 bytes/read, 1024000 bytes/s, 512 rows/s")
    assert(worst(Seq(ShardStatus(shard(0), 0, rate))).isEmpty)
    val two = Seq(ShardStatus(shard(0), 5, None), ShardStatus(shard(0, "clicks"), 7, None))
    assert(worst(two).contains(s"${shard(0, "clicks")}: 7 ms; ${shard(0)}: 5 ms"))
  }

  test("with several streams, the five that are furthest behind are named with the lag of their worst shard") {
    def worst(lags: (String, Long)*) = SourceMetrics.of(
      status.copy(behind = lags.zipWithIndex.map { case ((stream, millis), i) =>
        ShardStatus(shard(i, stream), millis, None)
      }),
      None,
      0
    ).get("worstStreams")
    assert(worst("a" -> 5, "b" -> 7, "a" -> 9, "c" -> 0).contains("a: 9 ms; b: 7 ms"))
    assert(
      worst((1 to 7).map(i => s"s$i" -> i.toLong): _*).contains("s7: 7 ms; s6: 6 ms; s5: 5 ms; s4: 4 ms; s3: 3 ms")
    )
    assert(worst("a" -> 5, "a" -> 9).isEmpty, "one stream")
    assert(worst("a" -> 0, "b" -> 0).isEmpty, "nothing is behind")
  }
}
