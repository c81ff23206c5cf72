package org.sparkkinesis.spark.write

import scala.collection.mutable

import org.apache.spark.sparkkinesis.MetricsSource

/** What all writers of this JVM have written, and how those that are open stand, for Spark's metrics system. Thread-safe. */
object WriterTotals {

  /** The name in Spark's metrics, behind application and executor. */
  val SourceName = "kinesis.sink"

  private val open = mutable.Set.empty[KinesisDataWriter]
  private var ended = WriteCounts()

  def opened(writer: KinesisDataWriter): Unit = {
    synchronized(open += writer)
    MetricsSource.register(SourceName, gauges)
  }

  def closed(writer: KinesisDataWriter): Unit = synchronized {
    if (open.remove(writer)) ended += writer.counts.copy(sink = writer.counts.sink.ended)
  }

  def now: WriteCounts = synchronized(open.iterator.map(_.counts).foldLeft(ended)(_ + _))

  /** One for each metric of the sink, and the mean batch size. */
  def gauges: Map[String, () => Double] =
    WriteMetrics.all.map(metric => metric.name -> (() => metric.of(now).toDouble)).toMap +
      ("meanBatchSize" -> (() => now.sink.requests.meanBatchSize))
}
