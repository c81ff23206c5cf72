package org.sparkkinesis.spark.sink

import org.sparkkinesis.concurrent.Clock

/**
 * The common parts of the sinks for one service in a JVM. One object extends it for each service.
 *
 * @param format
 *   name of the format, which also begins the name of the metrics in Spark's metrics system
 */
abstract class SinkKind(val format: String) {

  /** The metrics of a write in the SQL tab, in progress and in Spark's metrics system. */
  def metrics: Seq[WriteMetric]

  /** The metrics that progress also has as `total…`, over all batches. */
  def totals: Seq[WriteMetric] = Seq(new RecordsOut)

  /** The writers of this JVM. */
  lazy val writers: WriterTotals = new WriterTotals(s"$format.sink", metrics)

  def newProgress(clock: Clock): WriteProgress = new WriteProgress(clock, metrics, totals)
}
