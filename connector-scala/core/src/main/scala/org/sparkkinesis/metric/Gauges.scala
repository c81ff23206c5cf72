package org.sparkkinesis.metric

import org.sparkkinesis.metric.SourceFigures.nameOf

/**
 * One number for Spark's metrics system.
 *
 * @param labels
 *   what it belongs to: query, stream, shard
 */
final case class GaugeValue(labels: Seq[(String, String)], name: String, value: Double) {

  /** The labels and the name, with dots between them: `query.etl.stream.orders.maxMsBehindLatest`. */
  def path: String = (labels.flatMap { case (key, value) => Seq(key, Gauges.word(value)) } :+ name).mkString(".")
}

/** Makes the gauges of a query's source and sink from their figures. */
object Gauges {

  /** Maximum number of shards with gauges of their own. */
  val WorstShards = 5

  /** Returns the gauges of a source: those of the query, of each stream, and of the shards that are worst. */
  def of(query: String, figures: SourceFigures): Seq[GaugeValue] = {
    val ofQuery = Seq("query" -> query)
    def stream(arn: String) = ofQuery :+ ("stream" -> nameOf(arn))
    val buffers = Seq(
      GaugeValue(ofQuery, "bufferBytes", figures.bufferBytes.toDouble),
      GaugeValue(ofQuery, "pollingSlowdown", figures.pollingSlowdown),
      GaugeValue(ofQuery, "executors", figures.shardsByExecutor.size.toDouble)
    )
    val totals = figures.totals.toSeq.sorted.map { case (name, value) => GaugeValue(ofQuery, name, value.toDouble) }
    val batch = figures.batch.toSeq.flatMap { last =>
      Seq(
        "batches" -> last.number,
        "plannedRows" -> last.rows,
        "plannedBytes" -> last.bytes,
        "runningBatchMs" -> (if (last.isRunning) last.millis else 0L)
      )
    }.map { case (name, value) => GaugeValue(ofQuery, name, value.toDouble) }
    val streams = figures.streams.flatMap { arn =>
      val shards = figures.shards.filter(_.shard.stream == arn)
      val numbers = Seq(
        "maxMsBehindLatest" -> figures.millisBehind(arn).toDouble,
        "maxFetchedMsBehindLatest" -> figures.fetchedMillisBehind.getOrElse(arn, 0L).toDouble,
        "openShards" -> figures.openShards.getOrElse(arn, 0).toDouble,
        "fanOutShards" -> (if (figures.isFanOut) figures.openShards.getOrElse(arn, 0).toDouble else 0.0),
        "rowsPerSecond" -> shards.map(_.rowsPerSecond).sum,
        "bytesPerSecond" -> shards.map(_.bytesPerSecond).sum,
        "throttledCalls" -> figures.throttled.filter(_.stream == arn).map(_.calls).sum.toDouble,
        "outageMs" -> figures.outageMillis(arn).toDouble
      ) ++ figures.expiresInMillis(arn).map(left => "expiresInMs" -> left.toDouble)
      numbers.map { case (name, value) => GaugeValue(stream(arn), name, value) }
    }
    val worst = figures.worst.take(WorstShards).flatMap { one =>
      val labels = stream(one.shard.stream) :+ ("shard" -> one.shard.shard.value)
      Seq(
        GaugeValue(labels, "msBehindLatest", one.millisBehind.toDouble),
        GaugeValue(labels, "rowsPerSecond", one.rowsPerSecond),
        GaugeValue(labels, "bytesPerSecond", one.bytesPerSecond)
      )
    }
    val throttled = figures.throttled.filter(_.shard.nonEmpty)
      .groupMapReduce(one => (one.stream, one.shard.map(_.value).mkString))(_.calls)(_ + _).toSeq
      .sortBy { case (shard, calls) => (-calls, shard) }.take(WorstShards)
      .map { case ((arn, shard), calls) =>
        GaugeValue(stream(arn) :+ ("shard" -> shard), "throttledCalls", calls.toDouble)
      }
    buffers ++ totals ++ batch ++ streams ++ worst ++ throttled
  }

  /** Replaces characters that separate the parts of a name. */
  private[metric] def word(text: String): String = text.replaceAll("[^a-zA-Z0-9_-]", "_")
}
