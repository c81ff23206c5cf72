package org.sparkkinesis.spark.read.realtime

import org.sparkkinesis.metric.{Gauges, ShardFigures, SourceFigures}
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
      figures: SourceFigures
  ): Map[String, String] = {
    import figures.{shardsByExecutor, totals}
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
    ) ++ latency ++ lag ++ worst(ends) ++ Map("numOpenShards" -> figures.openShards.values.sum.toString) ++
      SourceMetrics.ofFigures(figures) ++ totals.map { case (name, value) => name -> value.toString }
  }

  /** Returns the shards that were furthest behind at the end of the batch. */
  private def worst(ends: Seq[TaskEnd]): Map[String, String] = {
    val shards = ends.flatMap(_.outcomes).flatMap(one => one.lagMillis.map(ShardFigures(one.shard, _)))
    val behind = ShardFigures.worst(shards).take(Gauges.WorstShards)
    if (behind.isEmpty) Map.empty
    else Map("worstShards" -> behind.map(one => s"${one.name}: ${one.millisBehind} ms").mkString("; "))
  }
}
