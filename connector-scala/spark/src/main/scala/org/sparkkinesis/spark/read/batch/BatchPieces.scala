package org.sparkkinesis.spark.read.batch

import scala.concurrent.duration._
import scala.util.Try

import org.sparkkinesis.consume.{FirstArrivals, RangeEnd}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.StartingPosition
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.plan.prune.RangePieces
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.executor.PublisherFactories
import org.sparkkinesis.spark.read.query.FirstRecords
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Divides the large ranges of a batch read by time, so that all cores read a few shards. It looks at ranges only if
 * their quotas and times allow large ones: at the first records of each, and at the first record of each piece.
 */
private[sparkkinesis] object BatchPieces {

  /** Maximum time to look for the first records of pieces. A piece whose first record is unknown is not cut off. */
  val LongestLook: FiniteDuration = 3.seconds

  /** Number of records from which the size of a range is projected. Each may have several megabytes. */
  val SampleRecords = 10

  def of(
      ranges: Seq[ShardRange],
      settings: ReadSettings,
      oldestMillis: Map[String, Long],
      nowMillis: Long,
      slots: Int,
      samples: RangeSamples,
      environment: Environment
  ): Seq[ShardRange] = {
    def start(range: ShardRange): Long = SizeEstimate.startOf(range, oldestMillis)
    def end(range: ShardRange): Long = SizeEstimate.endOf(range.end, nowMillis)
    val large = ranges.filter { range =>
      isTimed(range.end) && SizeEstimate.largest(end(range) - start(range)) >= 2 * RangePieces.MinBytes
    }
    if (!RangePieces.areFew(ranges.size, slots) || large.isEmpty) ranges
    else {
      // The tasks find a failure, and retry it.
      val pages = Try(samples.of(large, SampleRecords)).getOrElse(Nil)
      val cuts = large.zip(pages).flatMap { case (range, page) =>
        val bytes = SizeEstimate.ofShard(page, range.end, nowMillis).bytes
        val from = page.records.headOption.fold(start(range))(_.arrivalMillis)
        RangePieces.cuts(from, end(range), RangePieces.count(bytes, ranges.size, slots)).map(range -> _)
      }
      divided(ranges, cuts, settings, nowMillis, environment)
    }
  }

  private def divided(
      ranges: Seq[ShardRange],
      cuts: Seq[(ShardRange, Long)],
      settings: ReadSettings,
      nowMillis: Long,
      environment: Environment
  ): Seq[ShardRange] = if (cuts.isEmpty) ranges
  else {
    val publishers = PublisherFactories.polling(
      () => settings,
      environment.sharedScheduler,
      new ConsumerMetrics,
      environment,
      environment.events(settings.query)
    )
    try {
      val positions = cuts.map { case (range, millis) => range.shard -> StartingPosition.AtTimestamp(millis) }
      val found = FirstArrivals.records(publishers, positions, nowMillis, LongestLook, environment.waiting)
      val firsts =
        cuts.zip(found).collect { case ((range, _), Some(Some(first))) => range -> first }.groupMap(_._1)(_._2)
      ranges.flatMap { range =>
        firsts.get(range).fold(Seq(range))(RangePieces.of(range, _, FirstRecords.expiresSoon(_, nowMillis)))
      }
    } finally publishers.close()
  }

  private def isTimed(end: RangeEnd): Boolean = end match {
    case RangeEnd.ArrivedBy(_) => true
    case _ => false
  }
}
