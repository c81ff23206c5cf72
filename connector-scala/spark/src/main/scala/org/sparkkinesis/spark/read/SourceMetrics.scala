package org.sparkkinesis.spark.read

import org.sparkkinesis.plan.PlannedBatch
import org.sparkkinesis.spark.coordinator.CoordinatorStatus

/**
 * Builds the source metrics of `StreamingQueryProgress`. Names match Databricks' connector where it has the metric.
 */
object SourceMetrics {

  /**
   * Builds the metrics of one trigger.
   *
   * @param planningNanos
   *   planning time of the latest batch in nanoseconds: its end and its partitions
   */
  def of(status: CoordinatorStatus, planned: Option[PlannedBatch], planningNanos: Long): Map[String, String] = {
    val lag = lags("MsBehindLatest", status.millisBehindLatest) ++
      lags("FetchedMsBehindLatest", status.fetchedMillisBehindLatest)
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
    val withheld = status.withheldRows.map(rows => "withheldRows" -> rows.toString)
    lag ++ shards ++ batch ++ withheld ++ status.totals.map { case (name, value) => name -> value.toString }
  }

  private def lags(name: String, millis: Seq[Long]): Map[String, String] =
    if (millis.isEmpty) Map.empty
    else
      Map(
        s"min$name" -> millis.min.toString,
        s"avg$name" -> (millis.sum / millis.size).toString,
        s"max$name" -> millis.max.toString
      )
}
