package org.sparkkinesis.sink.kinesis.pack

import org.sparkkinesis.sink.kinesis.put.SinkRecord

/** What a record takes of a request when it is packed into an aggregate. */
object AggregateSize {

  /** Tags, indexes and lengths of a record and its partition key. */
  private val OfRecord = 17

  /** Tags, index and length of an explicit hash key. */
  private val OfHashKey = 6

  /** A container's magic, digest and outer key, of which each of its records, two or more, takes its share. */
  private val OfContainer = 11

  /** An upper bound: the entries that records are packed into are never larger than the sum of these. */
  def atMost(record: SinkRecord): Int =
    record.size + record.explicitHashKey.fold(0)(_.length + OfHashKey) + OfRecord + OfContainer
}
