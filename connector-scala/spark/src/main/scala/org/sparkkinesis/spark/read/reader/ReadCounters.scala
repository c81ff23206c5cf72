package org.sparkkinesis.spark.read.reader

import org.apache.spark.sql.connector.metric.CustomTaskMetric

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.event.ConsumerMetrics

/**
 * Counts the rows, bytes and calls of one task. For the task's thread.
 *
 * @param calls
 *   the counters of the reads from the service
 */
final private[reader] class ReadCounters(calls: ConsumerMetrics) {
  private var fromMemory = 0L
  private var fromService = 0L
  private var bytes = 0L
  private var aggregated = 0L
  private var chunks = 0L
  private var lagSum = 0L
  private var leastLag = Long.MaxValue
  private var mostLag = 0L

  def add(chunk: Chunk, isFromMemory: Boolean): Unit = {
    if (isFromMemory) fromMemory += chunk.rows else fromService += chunk.rows
    bytes += chunk.bytes
    aggregated += aggregatedRows(chunk)
    chunks += 1
    lagSum += chunk.millisBehindLatest
    leastLag = math.min(leastLag, chunk.millisBehindLatest)
    mostLag = math.max(mostLag, chunk.millisBehindLatest)
  }

  def values: Array[CustomTaskMetric] = {
    val counts = Array(
      ReadMetrics.rowsFromMemory.value(fromMemory),
      ReadMetrics.rowsFromService.value(fromService),
      ReadMetrics.bytesRead.value(bytes),
      ReadMetrics.aggregatedRows.value(aggregated),
      ReadMetrics.getRecordsCalls.value(calls.getRecordsCalls.sum),
      ReadMetrics.throttles.value(calls.throttles.sum),
      ReadMetrics.retries.value(calls.retries.sum)
    )
    // A task that has read nothing reports no lag.
    if (chunks == 0) counts
    else counts ++ Array(
      ReadMetrics.minFetchedMsBehindLatest.value(leastLag),
      ReadMetrics.avgFetchedMsBehindLatest.value(lagSum / chunks),
      ReadMetrics.maxFetchedMsBehindLatest.value(mostLag)
    )
  }

  private def aggregatedRows(chunk: Chunk): Int =
    if (chunk.columns.aggregated == null) 0 else (0 until chunk.rows).count(chunk.aggregated)
}
