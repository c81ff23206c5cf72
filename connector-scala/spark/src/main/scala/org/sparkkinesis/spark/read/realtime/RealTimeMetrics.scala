package org.sparkkinesis.spark.read.realtime

import org.sparkkinesis.spark.read.live.{LatencyCounts, TaskEnd}

/** Builds the source metrics of `StreamingQueryProgress` of a real-time batch. */
private[realtime] object RealTimeMetrics {

  def of(
      ends: Seq[TaskEnd],
      millisBehindLatest: Seq[Long],
      shardsByExecutor: Map[String, Int],
      totals: Map[String, Long]
  ): Map[String, String] = {
    val times = ends.map(_.handOver).foldLeft(LatencyCounts.Empty)(_ + _)
    val latency = Seq("p50" -> 0.5, "p99" -> 0.99).flatMap { case (name, share) =>
      times.percentile(share).map(millis => s"${name}ArrivalToReadMs" -> millis.toString)
    } ++ times.percentile(1).map(_ => "maxArrivalToReadMs" -> times.maxMillis.toString)
    val lag =
      if (millisBehindLatest.isEmpty) Map.empty[String, String]
      else
        Map(
          "minMsBehindLatest" -> millisBehindLatest.min.toString,
          "avgMsBehindLatest" -> (millisBehindLatest.sum / millisBehindLatest.size).toString,
          "maxMsBehindLatest" -> millisBehindLatest.max.toString
        )
    Map(
      "realTimeTasks" -> ends.size.toString,
      "realTimeRows" -> ends.map(_.rows).sum.toString,
      "childrenBegunInBatch" -> ends.map(_.childrenBegun).sum.toString,
      "shardsByExecutor" -> shardsByExecutor.toSeq.sorted.map { case (id, count) => s"$id: $count" }.mkString(", ")
    ) ++ latency ++ lag ++ totals.map { case (name, value) => name -> value.toString }
  }
}
