package org.sparkkinesis.spark.read.batch

import scala.util.control.NonFatal

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model.{KinesisQuotas, KinesisRecord, SequenceNumber, StartingPosition}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.service.RecordPage

/**
 * Size of a batch read, for Spark's optimizer.
 *
 * @param bytes
 *   payloads and keys, exact for small shards, else an estimate or an upper bound
 * @param rows
 *   number of records, if it is not only an upper bound
 */
final case class SizeEstimate(bytes: Long, rows: Option[Long])

/**
 * Estimates sizes. A read of few shards is measured: the first records of each shard are fetched, which are all records
 * of a small one, and their rate is projected for the others. A read of many shards, and one that cannot be measured in
 * time, is as large as the quotas of its shards and its duration allow.
 */
private[read] object SizeEstimate {

  /** Number of shards that are measured, each by two calls. */
  val MeasuredShards = 4

  /** Number of records that are fetched of each shard. */
  val SampleRecords = 1000

  /**
   * @param oldestMillis
   *   when the oldest record of a stream may have arrived
   */
  def of(
      ranges: Seq[ShardRange],
      samples: RangeSamples,
      oldestMillis: String => Long,
      nowMillis: Long
  ): SizeEstimate = {
    def bound: SizeEstimate = SizeEstimate(
      ranges.map(range => largest(endOf(range, nowMillis) - startOf(range, oldestMillis))).foldLeft(0L)(plus),
      None
    )
    if (ranges.size > MeasuredShards) bound
    else
      try {
        val all = ranges.zip(samples.of(ranges, SampleRecords)).map { case (range, page) =>
          ofShard(page, range.end, nowMillis)
        }
        SizeEstimate(all.map(_.bytes).foldLeft(0L)(plus), Some(all.flatMap(_.rows).sum))
      } catch { case NonFatal(_) => bound }
  }

  /** Projects the rate of the first records to the end of the range. */
  def ofShard(page: RecordPage, end: RangeEnd, nowMillis: Long): SizeEstimate = {
    val within = page.records.takeWhile(isWithin(_, end))
    val bytes = within.map(_.size.toLong).sum
    val isAll = within.size < page.records.size || page.nextIterator.isEmpty || page.millisBehindLatest == 0
    if (isAll || within.isEmpty) {
      // The service may return no records before it has found the first one.
      val unknown = if (isAll) 0L else largest(page.millisBehindLatest)
      SizeEstimate(bytes + unknown, Some(within.size.toLong))
    } else {
      val covered = math.max(1L, within.last.arrivalMillis - within.head.arrivalMillis)
      val left = math.max(0L, math.min(page.millisBehindLatest, endOf(end, nowMillis) - within.last.arrivalMillis))
      val factor = 1 + left.toDouble / covered
      SizeEstimate(math.min(bytes * factor, bytes + largest(left).toDouble).toLong, Some((within.size * factor).toLong))
    }
  }

  private def isWithin(record: KinesisRecord, end: RangeEnd): Boolean = end match {
    case RangeEnd.ArrivedBy(millis) => record.arrivalMillis <= millis
    case RangeEnd.At(number) => SequenceNumber(record.sequenceNumber) <= number
    case _ => true
  }

  /** Returns when the first record of a range may have arrived. */
  def startOf(range: ShardRange, oldestMillis: String => Long): Long = {
    val oldest = oldestMillis(range.shard.stream)
    range.after match {
      case StartingPosition.AtTimestamp(millis) => math.max(millis, oldest)
      case _ => oldest
    }
  }

  private def endOf(range: ShardRange, nowMillis: Long): Long = endOf(range.end, nowMillis)

  /** Returns when the last record of a range may have arrived. */
  def endOf(end: RangeEnd, nowMillis: Long): Long = end match {
    case RangeEnd.ArrivedBy(millis) => math.min(millis, nowMillis)
    case _ => nowMillis
  }

  /** Returns the number of bytes that a shard accepts in a time. */
  def largest(millis: Long): Long =
    math.max(0L, millis) * KinesisQuotas.Shard.WriteBytesPerSecond / 1000

  private def plus(one: Long, other: Long): Long = {
    val sum = one + other
    if (sum < 0) Long.MaxValue else sum
  }
}
