package org.sparkkinesis.spark.sink

import scala.collection.mutable

import org.sparkkinesis.concurrent.SystemClock
import org.sparkkinesis.metric.{GaugeValue, SourceFigures}
import org.sparkkinesis.spark.metric.PublishedGauges

/**
 * The totals of all writers of one kind in this JVM for each query and stream, and the state of the open ones, for
 * Spark's metrics system. Thread-safe.
 *
 * @param sourceName
 *   the name in Spark's metrics, after application and executor
 */
final class WriterTotals(val sourceName: String, metrics: Seq[WriteMetric]) {
  import WriterTotals._

  private val open = mutable.Set.empty[SinkDataWriter]

  /** Totals of closed writers by query and stream, in the order of their last writers. */
  private val ended = mutable.LinkedHashMap.empty[(String, String), WriteCounts]
  private val published = new PublishedGauges(sourceName, SystemClock, () => gauges)

  def opened(writer: SinkDataWriter): Unit = {
    synchronized(open += writer)
    published.changed()
  }

  def closed(writer: SinkDataWriter): Unit = {
    synchronized {
      if (open.remove(writer)) of(writer).foreach { case (key, counts) =>
        val sum = ended.remove(key).fold(counts.ended)(_ + counts.ended)
        ended(key) = sum
      }
      while (ended.size > MaxEnded) ended -= ended.head._1
    }
    published.changed()
  }

  /** Returns the totals by query and stream. */
  def now: Map[(String, String), WriteCounts] = synchronized {
    (ended.iterator ++ open.iterator.flatMap(of)).toVector.groupMapReduce(_._1)(_._2)(_ + _)
  }

  private def of(writer: SinkDataWriter): Map[(String, String), WriteCounts] =
    writer.countsByStream.map { case (stream, counts) => (writer.queryName, stream) -> counts }

  /** Returns a gauge for each metric of the sink, and for the mean batch size, of each query and stream. */
  def gauges: Seq[GaugeValue] = now.toSeq.flatMap { case ((query, stream), counts) =>
    val labels = Seq("query" -> query, "stream" -> SourceFigures.nameOf(stream))
    metrics.map(metric => GaugeValue(labels, metric.name, metric.of(counts).toDouble)) :+
      GaugeValue(labels, "meanBatchSize", counts.requests.meanBatchSize)
  }
}

private object WriterTotals {

  /** Maximum number of pairs of query and stream whose totals are kept after their last writer. */
  val MaxEnded = 1000
}
