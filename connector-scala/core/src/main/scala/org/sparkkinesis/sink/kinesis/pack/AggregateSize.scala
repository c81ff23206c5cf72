package org.sparkkinesis.sink.kinesis.pack

import org.sparkkinesis.sink.kinesis.put.SinkRecord

/** Computes the size of a record in an aggregate. */
object AggregateSize {

  /** Tags, indexes and lengths of a record and its partition key, in bytes. */
  private val OfRecord = 17

  /** Tags, index and length of an explicit hash key, in bytes. */
  private val OfHashKey = 6

  /** Share of the magic, digest and outer key of an aggregate, which has at least two records, in bytes. */
  private val OfContainer = 11

  /** Returns an upper bound: entries are never larger than the sum of the values of their records. */
  def atMost(record: SinkRecord): Int =
    record.size + record.explicitHashKey.fold(0)(_.length + OfHashKey) + OfRecord + OfContainer
}
