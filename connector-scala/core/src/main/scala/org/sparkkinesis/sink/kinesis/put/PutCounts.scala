package org.sparkkinesis.sink.kinesis.put

import java.util.concurrent.atomic.LongAdder

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.service.{PutEntry, PutResult}

/** Counts stored records as the service bills them. Thread-safe. */
final class PutCounts {
  private val recordCount = new LongAdder
  private val byteCount = new LongAdder
  private val unitCount = new LongAdder

  /** Stored Kinesis records; an aggregate counts as one. */
  def records: Long = recordCount.sum
  def bytes: Long = byteCount.sum

  /**
   * PUT payload units of provisioned streams: one for each 25 KB or part of it of every record. An estimate that
   * includes keys.
   */
  def payloadUnits: Long = unitCount.sum

  def answered(entries: IndexedSeq[PutEntry], results: IndexedSeq[PutResult]): Unit = {
    var records = 0L
    var bytes = 0L
    var units = 0L
    var i = 0
    while (i < results.size) {
      if (results(i).isInstanceOf[PutResult.Accepted]) {
        val size = entries(i).size
        records += 1
        bytes += size
        units += (size + KinesisQuotas.Billing.PayloadUnitBytes - 1L) / KinesisQuotas.Billing.PayloadUnitBytes
      }
      i += 1
    }
    recordCount.add(records)
    byteCount.add(bytes)
    unitCount.add(units)
  }
}
