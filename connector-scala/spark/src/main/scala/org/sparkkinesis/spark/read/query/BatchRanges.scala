package org.sparkkinesis.spark.read.query

import scala.collection.mutable

import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.plan.{PlannedBatch, ShardRange, TaskPlanner}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.session.check.RetentionCheck
import org.sparkkinesis.spark.session.{StreamSession, StreamShards}

/**
 * Determines what the tasks of a batch read of each shard. For the query's thread; its methods may block.
 *
 * @param knownRange
 *   returns the hash key range of a shard that the coordinator knows
 */
final private[query] class BatchRanges(
    session: StreamSession,
    retention: RetentionCheck,
    knownRange: StreamShard => Option[HashKeyRange],
    environment: Environment
) {
  private val firstRecords = new FirstRecords(session, environment)

  /** The hash key ranges of listed shards; empty for shards that do not exist any more. */
  private val listed = mutable.HashMap.empty[String, Map[ShardId, Option[HashKeyRange]]]

  /** The end of a batch of an earlier run that runs again, and the arrival times of its first records. */
  private var rerun: Option[(SourceOffset, Map[StreamShard, Long])] = None

  /**
   * Returns the ranges between two offsets. The tasks report if they do not find the first records of a range, for
   * shards of which their arrival is known.
   *
   * @param planned
   *   the batch, if this run of the query has planned it
   * @param readUpTo
   *   how far an earlier run had read that planned the batch. Its records may have expired already
   */
  def of(
      from: SourceOffset,
      to: SourceOffset,
      planned: Option[PlannedBatch],
      readUpTo: => SourceOffset
  ): Seq[ShardRange] = {
    // If a stream was recreated meanwhile, a shard that is read to its end may be another one of the same name.
    val finished = planned.fold(Map.empty[StreamShard, Option[SequenceNumber]])(_.finished)
    val ranges = TaskPlanner.ranges(from, to, finished, hashKeyRange)
    val arrivals =
      planned.fold(arrivalsOfEarlierRun(readUpTo, to, ranges))(_.firstArrivals.filter(retention.expiresSoon))
    val large = planned.fold(Map.empty[StreamShard, Long])(_.largeRows)
    ranges.map(range =>
      range.copy(firstArrivalMillis = arrivals.get(range.shard), maxRecords = large.get(range.shard))
    )
  }

  private def arrivalsOfEarlierRun(
      readUpTo: => SourceOffset,
      to: SourceOffset,
      ranges: Seq[ShardRange]
  ): Map[StreamShard, Long] = {
    if (!rerun.exists(_._1 == to)) {
      val from = readUpTo
      // What had expired before this look is reported by the check, and what expires after it by the tasks.
      val found = firstRecords.arrivals(ranges.filter(expiresSoon(from, to, _)), session.serviceClock.atMost)
      rerun = Some(to -> (retention.warnOfExpiredBatch(from, to, ranges.iterator.map(_.shard).toSet) ++ found))
    }
    rerun.fold(Map.empty[StreamShard, Long])(_._2)
  }

  /** Whether the first record of a range may expire soon, and its arrival is not in the end of the batch. */
  private def expiresSoon(from: SourceOffset, to: SourceOffset, range: ShardRange): Boolean = {
    val (arn, shard) = (range.shard.stream, range.shard.shard)
    !to.streams.get(arn).exists(_.begun.contains(shard)) &&
    from.streams.get(arn).flatMap(_.readUntil(shard)).exists(until => retention.expiresSoon(range.shard -> until))
  }

  /**
   * Returns a shard's hash key range for the filter of aggregated records. A batch that is repeated after a restart
   * is planned before any listing, and must be filtered as before.
   */
  private def hashKeyRange(shard: StreamShard): Option[HashKeyRange] = knownRange(shard).orElse(
    if (session.options(ReadOptions.deaggregationHashRangeFilter)) ofListing(shard) else None
  )

  /**
   * Lists the stream until a listing shows the shard, because a listing may lack it for a while. Returns `None` for a
   * shard that does not exist any more: reading it fails, or finds no record.
   *
   * @throws KinesisConnectorException
   *   KINESIS_SHARD_NOT_LISTED
   */
  @scala.annotation.tailrec
  private def ofListing(shard: StreamShard, times: Int = 0): Option[HashKeyRange] = {
    val StreamShard(stream, id) = shard
    val known = listed.getOrElse(stream, Map.empty)
    known.get(id) match {
      case Some(found) => found
      case None if times > 0 && !session.hasShard(stream, id) =>
        listed(stream) = known + (id -> None)
        None
      case None if times >= StreamShards.LongestListings =>
        throw ReadErrors.shardNotListed(id.value, session.streams(stream).name, times)
      case None =>
        if (times > 0) environment.waiting.sleep(StreamShards.ListingPause)
        listed(stream) = known ++ session.listShards(stream).map(one => one.id -> Some(one.hashKeyRange))
        ofListing(shard, times + 1)
    }
  }
}
