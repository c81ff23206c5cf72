package org.sparkkinesis.spark.write

import scala.collection.mutable

import org.apache.spark.sparkkinesis.MetricsSource

/** The totals of all writers of this JVM, and the state of the open ones, for Spark's metrics system. Thread-safe. */
object WriterTotals {

  /** The name in Spark's metrics, after application and executor. */
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

  /** Returns a gauge for each metric of the sink, and for the mean batch size. */
  def gauges: Map[String, () => Double] =
    WriteMetrics.all.map(metric => metric.name -> (() => metric.of(now).toDouble)).toMap +
      ("meanBatchSize" -> (() => now.sink.requests.meanBatchSize))
}
