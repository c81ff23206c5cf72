package org.sparkkinesis.sink.kinesis.put

import java.util.concurrent.atomic.LongAdder

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.service.{PutEntry, PutResult}

/** What was stored, as the service bills it. Thread-safe. */
final class PutCounts {
  private val recordCount = new LongAdder
  private val byteCount = new LongAdder
  private val unitCount = new LongAdder

  /** Kinesis records stored; an aggregate is one. */
  def records: Long = recordCount.sum
  def bytes: Long = byteCount.sum

  /** PUT payload units of provisioned streams: chunks of 25 KB, counted for each record. An estimate, keys included. */
  def payloadUnits: Long = unitCount.sum

  def answered(entries: Seq[PutEntry], results: Seq[PutResult]): Unit = {
    var (records, bytes, units) = (0L, 0L, 0L)
    entries.lazyZip(results).foreach {
      case (entry, _: PutResult.Accepted) =>
        records += 1
        bytes += entry.size
        units += (entry.size + KinesisQuotas.Billing.PayloadUnitBytes - 1L) / KinesisQuotas.Billing.PayloadUnitBytes
      case _ => ()
    }
    recordCount.add(records)
    byteCount.add(bytes)
    unitCount.add(units)
  }
}
