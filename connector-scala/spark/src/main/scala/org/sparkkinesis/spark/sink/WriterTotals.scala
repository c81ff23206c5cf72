package org.sparkkinesis.spark.sink

import scala.collection.mutable

import org.apache.spark.sparkkinesis.MetricsSource

/**
 * The totals of all writers of one kind in this JVM, and the state of the open ones, for Spark's metrics system.
 * Thread-safe.
 *
 * @param sourceName
 *   the name in Spark's metrics, after application and executor
 */
final class WriterTotals(val sourceName: String, metrics: Seq[WriteMetric]) {
  private val open = mutable.Set.empty[SinkDataWriter]
  private var ended = WriteCounts()

  def opened(writer: SinkDataWriter): Unit = {
    synchronized(open += writer)
    MetricsSource.register(sourceName, gauges)
  }

  def closed(writer: SinkDataWriter): Unit = synchronized {
    if (open.remove(writer)) ended += writer.counts.ended
  }

  def now: WriteCounts = synchronized(open.iterator.map(_.counts).foldLeft(ended)(_ + _))

  /** Returns a gauge for each metric of the sink, and for the mean batch size. */
  def gauges: Map[String, () => Double] =
    metrics.map(metric => metric.name -> (() => metric.of(now).toDouble)).toMap +
      ("meanBatchSize" -> (() => now.requests.meanBatchSize))
}
