package org.sparkkinesis.spark.read.realtime

import scala.collection.mutable

import org.sparkkinesis.metric.ShardFigures
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan.offset.IdleTime
import org.sparkkinesis.spark.coordinator.state.{LatestTime, Overtaken, OvertakenShards}
import org.sparkkinesis.spark.protocol.ShardReport

/** One instance of an executor's consumers. */
final private[realtime] case class Reader(executorId: String, instance: Long)

/**
 * Records from reports which executor reads each shard of a real-time query, and up to when it has fetched it. Pure
 * state without I/O; its owner's lock guards it.
 *
 * @param latestMillis
 *   returns a time, in epoch milliseconds, that is not earlier than the service's current time; it may be too late
 *   until the service confirms it
 */
final private[realtime] class LiveOwners(latestMillis: () => Long) {
  import LiveOwners._

  private val owners = mutable.HashMap.empty[StreamShard, Owner]

  /** Times before which no record arrived that a new reader of the shard still has to fetch. */
  private val unreadSince = mutable.HashMap.empty[StreamShard, Long]
  private var openMillis = Map.empty[StreamShard, Long]
  private val overtaken = new OvertakenShards
  private val latestTime = new LatestTime(latestMillis)

  /**
   * Begins a batch, and forgets the shards that are not read any more.
   *
   * @param shards
   *   the shards with the times up to which the query has read them, where these are known
   * @param openMillis
   *   times of the service at which shards were open, in epoch milliseconds
   */
  def begin(shards: Map[StreamShard, Option[Long]], openMillis: Map[StreamShard, Long]): Unit = {
    this.openMillis = openMillis
    owners.filterInPlace((shard, _) => shards.contains(shard))
    unreadSince.clear()
    unreadSince ++= shards.collect { case (shard, Some(millis)) => shard -> millis }
  }

  /** Records a report. */
  def accept(reader: Reader, told: ShardReport): Heard = {
    val before = owners.get(told.shard)
    if (before.exists(_.epoch > told.epoch))
      Heard(
        Option.unless(before.exists(_.reader.executorId == reader.executorId))(reader.executorId),
        hasFetched = false
      )
    else {
      // A new consumer begins where the batch began, also in the same executor.
      val same = before.filter(owner => owner.reader == reader && owner.startEpoch == told.startEpoch)
      val fetchedBefore = same.map(_.readUpTo).filter(_ > 0)
      val hasFetched = told.readUpToMillis > fetchedBefore.getOrElse(0L)
      val since = fetchedBefore.orElse(unreadSince.get(told.shard))
      // An answer of a closed shard may have its end only, if all records that were left have expired.
      if (hasFetched || (told.end.nonEmpty && !same.exists(_.ended))) note(told, since)
      // Another reader begins where the batch began, also if this one has handed its records over.
      if (hasFetched && !unreadSince.contains(told.shard)) unreadSince(told.shard) = firstMillis(told)
      val readUpTo = math.max(told.readUpToMillis, fetchedBefore.getOrElse(0L))
      val behind = Option.when(told.readUpToMillis > 0)(told.millisBehindLatest).orElse(before.flatMap(_.millisBehind))
      val ended = told.end.nonEmpty || same.exists(_.ended)
      owners(told.shard) = Owner(reader, told.epoch, told.startEpoch, readUpTo, behind, ended)
      // The records of a child arrived after those of its parents, and after the parents were open.
      val openUntil = openMillis.get(told.shard).map(millis => math.max(0, millis - IdleTime.Margin))
      for (children <- told.end; child <- children; millis <- (since ++ openUntil).maxOption) {
        val shard = StreamShard(told.shard.stream, child.id)
        unreadSince(shard) = unreadSince.get(shard).fold(millis)(math.max(millis, _))
      }
      Heard(before.map(_.reader.executorId).filter(_ != reader.executorId), hasFetched)
    }
  }

  /** Returns the shards of which records may have expired unread, each once. */
  def takeOvertaken(): Seq[Overtaken] = overtaken.take()

  /** Returns how far the fetched part of each shard is behind, in milliseconds. */
  def fetchedMillisBehind: Seq[Long] = owners.valuesIterator.flatMap(_.millisBehind).toVector

  /** Returns each shard that is read. How far it is behind is that of its fetched part. */
  def figures: Seq[ShardFigures] = owners.iterator.filterNot(_._2.ended).map { case (shard, owner) =>
    ShardFigures(shard, owner.millisBehind.getOrElse(0), Some(owner.reader.executorId))
  }.toVector

  def openByStream: Map[String, Int] = owners.iterator.filterNot(_._2.ended).toVector
    .groupMapReduce(_._1.stream)(_ => 1)(_ + _)

  def shardsOf(executorId: String): Int = owners.valuesIterator.count(_.reader.executorId == executorId)

  /** Returns the number of shards that each executor reads of each stream. */
  def shardsByStream: Map[(String, String), Int] =
    owners.toSeq.groupMapReduce { case (shard, owner) => (owner.reader.executorId, shard.stream) }(_ => 1)(_ + _)

  /** A time before which no record of a shard arrived, according to the first answer of the service. */
  private def firstMillis(told: ShardReport): Long =
    told.chunks.headOption.fold(math.max(0, told.readUpToMillis - IdleTime.Margin))(_.firstArrivalMillis)

  private def note(told: ShardReport, since: Option[Long]): Unit =
    since.map(millis => Overtaken(told.shard, millis, latestTime.at(told) - millis))
      .filter(_.exceedsShortestRetention).foreach { late =>
        overtaken.add(late)
        // Another reader of the shard does not report the same loss again.
        unreadSince(told.shard) = math.max(late.untilMillis, told.readUpToMillis)
      }
}

private[realtime] object LiveOwners {

  /**
   * @param stops
   *   the executor that must stop reading the shard, because another one reads it
   * @param hasFetched
   *   whether the reader has received an answer of the service
   */
  final case class Heard(stops: Option[String], hasFetched: Boolean)

  /**
   * @param startEpoch
   *   the epoch under which the consumer started
   * @param readUpTo
   *   every record that arrived until this time was fetched; 0 if unknown
   * @param ended
   *   whether the reader has reported the end of the shard
   */
  final private case class Owner(
      reader: Reader,
      epoch: Long,
      startEpoch: Long,
      readUpTo: Long,
      millisBehind: Option[Long],
      ended: Boolean
  )
}
