package org.sparkkinesis.spark.write

import java.util.{Collections, TreeMap => JTreeMap}

/**
 * The totals of a query up to its last committed batch, for `sink.metrics` of its progress. The table owns it.
 * Thread-safe.
 */
final class WriteProgress {
  private var last = WriteCounts()
  private var total = WriteCounts()

  def committed(batch: WriteCounts): Unit = synchronized {
    last = batch
    total += batch
  }

  /** Returns the metrics of the last batch by name, and `total…` over all batches. */
  def metrics: java.util.Map[String, String] = synchronized {
    val texts = new JTreeMap[String, String]
    WriteMetrics.all.foreach(metric => texts.put(metric.name, metric.of(last).toString))
    texts.put("meanBatchSize", f"${last.sink.requests.meanBatchSize}%.1f")
    texts.put("totalRecordsOut", total.sink.requests.entriesOut.toString)
    texts.put("totalPutPayloadUnits", total.sink.payloadUnits.toString)
    Collections.unmodifiableMap(texts)
  }
}
