package org.sparkkinesis.spark.read

import org.sparkkinesis.plan.PlannedBatch
import org.sparkkinesis.spark.coordinator.CoordinatorStatus

/** What `StreamingQueryProgress` shows of a source; names that are known from Databricks' connector where it has them. */
object SourceMetrics {

  /** @param planningNanos what the latest batch took to plan: where it ends, and its partitions */
  def of(status: CoordinatorStatus, planned: Option[PlannedBatch], planningNanos: Long): Map[String, String] = {
    val behind = status.millisBehindLatest
    val lag =
      if (behind.isEmpty) Map.empty[String, String]
      else
        Map(
          "minMsBehindLatest" -> behind.min.toString,
          "avgMsBehindLatest" -> (behind.sum / behind.size).toString,
          "maxMsBehindLatest" -> behind.max.toString
        )
    val shards = Map(
      "numTotalShards" -> (status.openShards + status.endedShards).toString,
      "numOpenShards" -> status.openShards.toString,
      "numClosedShards" -> status.endedShards.toString,
      "shardsByExecutor" -> status.shardsByExecutor.toSeq.sorted.map { case (executor, count) =>
        s"$executor: $count"
      }.mkString(", ")
    )
    val batch = planned.fold(Map.empty[String, String])(last =>
      Map(
        "plannedRows" -> last.rows.toString,
        "plannedBytes" -> last.bytes.toString,
        "planningMicros" -> (planningNanos / 1000).toString
      )
    )
    lag ++ shards ++ batch ++ status.totals.map { case (name, value) => name -> value.toString }
  }
}
