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

  /**
   * Counts the stored records of a request.
   *
   * @param all
   *   the size of all entries, which was computed when they were sent
   */
  def answered(entries: IndexedSeq[PutEntry], results: IndexedSeq[PutResult], all: PutSize): Unit = {
    val stored =
      if (results.forall(_.isInstanceOf[PutResult.Accepted])) all
      else PutSize.of(entries.indices.filter(results(_).isInstanceOf[PutResult.Accepted]).map(entries))
    recordCount.add(stored.records)
    byteCount.add(stored.bytes)
    unitCount.add(stored.units)
  }
}

/** The size of records as the service bills them, see [[PutCounts]]. */
final private[kinesis] case class PutSize(records: Long, bytes: Long, units: Long)

private[kinesis] object PutSize {
  def of(entries: IndexedSeq[PutEntry]): PutSize = {
    var bytes = 0L
    var units = 0L
    var i = 0
    while (i < entries.size) {
      val size = entries(i).size
      bytes += size
      units += (size + KinesisQuotas.Billing.PayloadUnitBytes - 1L) / KinesisQuotas.Billing.PayloadUnitBytes
      i += 1
    }
    PutSize(entries.size.toLong, bytes, units)
  }
}
