package org.sparkkinesis.spark.read.query

import scala.concurrent.duration._

import org.sparkkinesis.config.value.ConsumerMode
import org.sparkkinesis.metric.{BatchFigures, SourceFigures}
import org.sparkkinesis.plan.PlannedBatch
import org.sparkkinesis.secret.Redaction
import org.sparkkinesis.spark.coordinator.{CoordinatorStatus, ShardStatus}

/**
 * Builds the source metrics of `StreamingQueryProgress`. Names match Databricks' connector where it has the metric.
 */
object SourceMetrics {

  /** Time between two answers of a shard without records that is normal, in addition to `minFetchPeriod`. */
  val UsualSilence: FiniteDuration = 10.seconds

  /** Number of shards in `worstShards`, and of streams in `worstStreams`. */
  private val Worst = 5

  /**
   * Builds the metrics of one trigger.
   *
   * @param planningNanos
   *   planning time of the latest batch in nanoseconds: its end and its partitions
   */
  def of(status: CoordinatorStatus, planned: Option[PlannedBatch], planningNanos: Long): Map[String, String] = {
    val lag = lags("MsBehindLatest", status.behind.map(_.millisBehindLatest)) ++
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
    val totals = status.totals.map { case (name, value) => name -> value.toString }
    lag ++ worst(status.behind) ++ worstStreams(status.behind) ++ shards ++ batch ++ withheld ++ totals
  }

  /** Returns the figures of a source from the coordinator's status. */
  def figures(
      status: CoordinatorStatus,
      mode: ConsumerMode,
      retentionMillis: Map[String, Long],
      batch: Option[BatchFigures]
  ): SourceFigures = SourceFigures(
    mode,
    status.behind.map(_.figures),
    status.openByStream,
    status.fetchedBehindByStream,
    retentionMillis,
    status.totals,
    status.shardsByExecutor,
    status.health,
    batch
  )

  /** Builds the metrics that every type of query has: expiry, buffers, polling, throttling and outages. */
  def ofFigures(figures: SourceFigures): Map[String, String] = {
    val throttled = figures.throttled.take(Worst).map { calls =>
      val shard = calls.shard.fold("")(id => s" ${id.value}")
      val executor = figures.executorOf(calls).fold("")(id => s" (executor $id)")
      s"${calls.operation} ${SourceFigures.nameOf(calls.stream)}$shard: ${calls.calls}$executor"
    }
    val outages = figures.health.toSeq.sortBy(_._1).flatMap { case (executor, health) =>
      health.outages.map(one =>
        s"${SourceFigures.nameOf(one.stream)} on executor $executor for ${one.millis} ms: ${one.reason}"
      )
    }
    Map(
      "consumerMode" -> figures.modeText,
      "bufferBytes" -> figures.bufferBytes.toString,
      "pollingSlowdown" -> String.format(java.util.Locale.ROOT, "%.2f", Double.box(figures.pollingSlowdown))
    ) ++ figures.expiresInMillis.map(left => "expiresInMs" -> left.toString) ++
      Option.when(throttled.nonEmpty)("throttledCalls" -> throttled.mkString("; ")) ++
      Option.when(outages.nonEmpty)("outages" -> Redaction.text(outages.mkString("; ")))
  }

  /** Returns the shards that are furthest behind and not at their tip, with the rates at which they are fetched. */
  private def worst(shards: Seq[ShardStatus]): Map[String, String] = {
    val severalStreams = shards.map(_.shard.stream).distinct.size > 1
    val behind = shards.filter(_.millisBehindLatest > 0).sortBy(-_.millisBehindLatest).take(Worst)
    val texts = behind.map { status =>
      val name = if (severalStreams) status.shard.toString else status.shard.shard.value
      val rates = status.rate.fold("")(rate =>
        s", ${math.round(rate.bytesPerRead)} bytes/read, ${math.round(rate.bytesPerSecond)} bytes/s, " +
          s"${math.round(rate.rowsPerSecond)} rows/s"
      )
      s"$name: ${status.millisBehindLatest} ms$rates"
    }
    if (texts.isEmpty) Map.empty else Map("worstShards" -> texts.mkString("; "))
  }

  /** Returns the streams that are furthest behind, if there are several, with the lag of their worst shard. */
  private def worstStreams(shards: Seq[ShardStatus]): Map[String, String] = {
    val lags = shards.groupMapReduce(_.shard.stream)(_.millisBehindLatest)(math.max)
    val behind = lags.toSeq.filter(_._2 > 0).sortBy { case (stream, millis) => (-millis, stream) }.take(Worst)
    if (lags.size < 2 || behind.isEmpty) Map.empty
    else Map("worstStreams" -> behind.map { case (stream, millis) => s"$stream: $millis ms" }.mkString("; "))
  }

  /** Returns minimum, average and maximum of the lags of all shards. */
  private[read] def lags(name: String, millis: Seq[Long]): Map[String, String] =
    if (millis.isEmpty) Map.empty
    else
      Map(
        s"min$name" -> millis.min.toString,
        s"avg$name" -> (millis.sum / millis.size).toString,
        s"max$name" -> millis.max.toString
      )
}
