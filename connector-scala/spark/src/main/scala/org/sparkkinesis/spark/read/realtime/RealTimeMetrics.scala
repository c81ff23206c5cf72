package org.sparkkinesis.spark.read.realtime

import org.sparkkinesis.plan.realtime.{LatencyCounts, TaskEnd}
import org.sparkkinesis.spark.read.query.SourceMetrics

/** Builds the source metrics of `StreamingQueryProgress` of a real-time batch. */
private[realtime] object RealTimeMetrics {

  /**
   * @param fetchedMillisBehind
   *   how far the fetched part of each shard is behind
   */
  def of(
      ends: Seq[TaskEnd],
      fetchedMillisBehind: Seq[Long],
      shardsByExecutor: Map[String, Int],
      totals: Map[String, Long]
  ): Map[String, String] = {
    val times = ends.map(_.handOver).foldLeft(LatencyCounts.Empty)(_ + _)
    val latency = Seq("p50" -> 0.5, "p99" -> 0.99).flatMap { case (name, share) =>
      times.percentile(share).map(millis => s"${name}ArrivalToReadMs" -> millis.toString)
    } ++ times.percentile(1).map(_ => "maxArrivalToReadMs" -> times.maxMillis.toString)
    val lag = SourceMetrics.lags("MsBehindLatest", ends.flatMap(_.outcomes).flatMap(_.lagMillis)) ++
      SourceMetrics.lags("FetchedMsBehindLatest", fetchedMillisBehind)
    Map(
      "realTimeTasks" -> ends.size.toString,
      "realTimeRows" -> ends.map(_.rows).sum.toString,
      "childrenBegunInBatch" -> ends.map(_.childrenBegun).sum.toString,
      "shardsByExecutor" -> shardsByExecutor.toSeq.sorted.map { case (id, count) => s"$id: $count" }.mkString(", ")
    ) ++ latency ++ lag ++ totals.map { case (name, value) => name -> value.toString }
  }
}
