package org.sparkkinesis.spark.read

import org.sparkkinesis.plan.PlannedBatch
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.coordinator.CoordinatorStatus
import org.sparkkinesis.suite.TimedSuite

class SourceMetricsSuite extends TimedSuite {
  private val status = new CoordinatorStatus(
    millisBehindLatest = Seq(10, 40, 100),
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
    val found = SourceMetrics.of(status.copy(millisBehindLatest = Nil, fetchedMillisBehindLatest = Nil), None, 0)
    assert(found.keySet.filter(name => name.contains("Behind") || name.startsWith("plan")) == Set.empty[String])
  }
}
