package org.sparkkinesis.spark.sink

import java.util.{Collections, TreeMap => JTreeMap}

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Clock
import org.sparkkinesis.event.WriteSummary
import org.sparkkinesis.sink.route.RouteCounts

/**
 * Counts what a query has written up to its last committed batch, for `sink.metrics` of its progress and for summaries
 * in the log. Owned by the table. Thread-safe.
 *
 * @param shown
 *   metrics of the last batch
 * @param totals
 *   metrics that are also summed over all batches, with names that begin with `total`
 */
final class WriteProgress(clock: Clock, shown: Seq[WriteMetric], totals: Seq[WriteMetric]) {
  private var last = WriteCounts()
  private var total = WriteCounts()
  private var unreported = WriteCounts()
  private var unreportedBatches = 0L
  private var reportedAt = clock.nanoTime
  private var isFirst = true

  /** Adds a committed batch. Returns the summary of the time since the last one if it is due. */
  def committed(batch: WriteCounts, isStreaming: Boolean): Option[WriteSummary] = synchronized {
    last = batch
    total += batch
    unreported += batch
    unreportedBatches += 1
    val elapsed = clock.nanoTime - reportedAt
    Option.when(!isStreaming || isFirst || elapsed >= WriteProgress.SummaryPeriod.toNanos) {
      val requests = unreported.requests
      val summary = WriteSummary(
        Option.when(isStreaming)(unreportedBatches),
        requests.entriesOut,
        requests.bytesOut,
        requests.requests,
        requests.throttled,
        requests.retried,
        elapsed / 1000000
      )
      unreported = WriteCounts()
      unreportedBatches = 0
      reportedAt = clock.nanoTime
      isFirst = false
      summary
    }
  }

  /** Returns the metrics of the last batch by name, and `total…` over all batches. */
  def metrics: java.util.Map[String, String] = synchronized {
    val texts = new JTreeMap[String, String]
    shown.foreach(metric => texts.put(metric.name, metric.of(last).toString))
    texts.put("meanBatchSize", f"${last.requests.meanBatchSize}%.1f")
    val slowest = last.shards.slowestShards
    if (slowest.nonEmpty)
      texts.put("slowestShards", slowest.map(rate => s"${rate.shard}: ${rate.shown} records/s").mkString("; "))
    RouteCounts.byShortName(last.streams).foreach { case (name, counts) =>
      def put(metric: String, value: Any): Unit = { texts.put(s"stream.$name.$metric", value.toString); () }
      put("records", counts.records)
      put("bytes", counts.bytes)
      put("refused", counts.refused)
      put("left", counts.left)
      put("inUse", counts.inUse)
    }
    totals.foreach(metric => texts.put(s"total${metric.name.capitalize}", metric.of(total).toString))
    Collections.unmodifiableMap(texts)
  }
}

private object WriteProgress {
  val SummaryPeriod: FiniteDuration = 5.minutes
}
