package org.sparkkinesis.plan.realtime

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.{ChildShard, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.Lineage

/**
 * Report of a task of a real-time batch about one shard, at the end of the task.
 *
 * @param position
 *   the last row that was handed over
 * @param readUpToMillis
 *   every record that arrived until this time, in epoch milliseconds, was handed over; 0 if unknown
 * @param begunMillis
 *   arrival time of the first row, if the batch began without the position of a record
 * @param lastArrivalMillis
 *   arrival time of the last row that was handed over in the batch
 * @param children
 *   the children of a finished shard
 * @param lagMillis
 *   how far the task is behind in the shard, in milliseconds; empty if that is unknown or the shard is finished
 */
final case class ShardOutcome(
    shard: StreamShard,
    position: ShardPosition,
    readUpToMillis: Long,
    begunMillis: Option[Long],
    lastArrivalMillis: Option[Long],
    children: Seq[ChildShard],
    lagMillis: Option[Long] = None
)

/**
 * The end of a real-time batch.
 *
 * @param silent
 *   shards that no task reported; they stay at their start and are read again
 */
final case class MergedBatch(end: SourceOffset, silent: Set[StreamShard])

/**
 * Builds the end of a real-time batch from the reports of its tasks. Pure.
 *
 * A finished shard stays in the end, also if it began in the same batch: a micro-batch that reads the range again needs
 * it. It leaves when the next batch is planned. If a shard is reported twice, the lower position counts, and a child
 * counts only if its parents are finished: rows may be read again, but none is lost or comes before its parent's rows.
 */
object RealTimeMerge {

  /**
   * @param start
   *   the positions with which the batch was planned
   * @param read
   *   the shards that the tasks were given
   * @param openMillis
   *   a time of the service at which a shard was open, in epoch milliseconds, if there is one. The records of its
   *   children arrived later. Its position may have a much older time.
   */
  def merge(
      start: SourceOffset,
      read: Set[StreamShard],
      outcomes: Seq[ShardOutcome],
      openMillis: StreamShard => Option[Long] = _ => None
  ): MergedBatch = {
    val ofStream = outcomes.groupBy(_.shard.stream)
    val streams = start.streams.map { case (arn, stream) =>
      arn -> merged(stream, ofStream.getOrElse(arn, Nil), openMillis)
    }
    MergedBatch(start.copy(streams = streams), read -- outcomes.map(_.shard))
  }

  private def merged(
      stream: StreamOffset,
      reported: Seq[ShardOutcome],
      openMillis: StreamShard => Option[Long]
  ): StreamOffset = {
    val outcomes = reported.groupBy(_.shard).values.map(_.min(byPosition)).toVector
    val (known, born) = outcomes.partition(outcome => stream.shards.contains(outcome.shard.shard))
    val parents = reported.flatMap { outcome =>
      outcome.children.map(child => child.id -> (child.parents :+ outcome.shard.shard))
    }.groupMapReduce(_._1)(_._2.toSet)(_ ++ _)
    val shards = withBorn(stream.shards ++ known.map(ended), born, parents)
    val counted = outcomes.filter(outcome => shards.contains(outcome.shard.shard))
    val begun = counted.flatMap(outcome => outcome.begunMillis.map(outcome.shard.shard -> _)).to(SortedMap)
    val untimed = shards.filter { case (_, position) => IdleTime.of(position).isEmpty }.keys
    val ofShard = counted.iterator.map(outcome => outcome.shard.shard -> outcome).toMap
    def open(shard: ShardId) =
      if (shards.get(shard).contains(ShardPosition.ShardEnd)) openMillis(StreamShard(stream.arn, shard)) else None
    val since = untimed.flatMap(shard => until(shard, stream, ofShard, parents, open).map(shard -> _)).to(SortedMap)
    stream.copy(shards = shards, begun = begun, since = since)
  }

  /**
   * A time before which every record of a shard was planned whose position has no time; for a finished shard, a time
   * before which no record of its children arrived.
   */
  private def until(
      shard: ShardId,
      stream: StreamOffset,
      outcomes: Map[ShardId, ShardOutcome],
      parents: Map[ShardId, Set[ShardId]],
      open: ShardId => Option[Long]
  ): Option[Long] = {
    val told = outcomes.get(shard).flatMap { outcome =>
      outcome.lastArrivalMillis.orElse(Some(outcome.readUpToMillis - IdleTime.Margin).filter(_ =>
        outcome.readUpToMillis > 0
      ))
    }
    // The records of a child arrived after those of its parents.
    def ofParents = parents.getOrElse(shard, Set.empty).flatMap(until(_, stream, outcomes, parents, open)).maxOption
    val known = told.orElse(stream.readUntil(shard)).orElse(ofParents.map(_ - IdleTime.Margin))
    (known ++ open(shard).map(_ - IdleTime.Margin)).maxOption.map(math.max(0, _))
  }

  /**
   * Returns the streams with shards whose first records were read in the batch, from a position without a sequence
   * number. They may be those of a recreated stream.
   */
  def unproven(start: SourceOffset, outcomes: Seq[ShardOutcome]): Set[String] = outcomes.iterator.filter { outcome =>
    val before = start.streams.get(outcome.shard.stream).flatMap(_.shards.get(outcome.shard.shard))
    outcome.lastArrivalMillis.nonEmpty && !before.exists(_.hasNumber)
  }.map(_.shard.stream).toSet

  /** Adds the shards that began in the batch and whose parents were finished, until there are no more. */
  @tailrec
  private def withBorn(
      shards: SortedMap[ShardId, ShardPosition],
      born: Vector[ShardOutcome],
      parents: Map[ShardId, Set[ShardId]]
  ): SortedMap[ShardId, ShardPosition] = {
    // A parent that is not in the offset has left it or expired, unless it began in this batch as well.
    val unadded = born.map(_.shard.shard).toSet
    val (ready, waiting) = born.partition { outcome =>
      Lineage.permits(parents.getOrElse(outcome.shard.shard, Nil))(
        shards.get(_).map(_ == ShardPosition.ShardEnd),
        mayCome = unadded
      )
    }
    if (ready.isEmpty) shards else withBorn(shards ++ ready.map(ended), waiting, parents)
  }

  private def ended(outcome: ShardOutcome): (ShardId, ShardPosition) =
    outcome.shard.shard -> IdleTime.refresh(outcome.position, outcome.readUpToMillis)

  /** The end of a shard comes after all its records, and the end of a record after its user records. */
  private val byPosition: Ordering[ShardOutcome] = (a, b) => compare(a.position, b.position)

  private def compare(a: ShardPosition, b: ShardPosition): Int = (a, b) match {
    case (ShardPosition.After(x, _), ShardPosition.After(y, _)) => x.compare(y)
    case (ShardPosition.Within(x, sub, _), ShardPosition.Within(y, other, _)) if x == y => sub.compare(other)
    case (ShardPosition.Within(x, _, _), ShardPosition.Within(y, _, _)) => x.compare(y)
    case (ShardPosition.Within(x, _, _), ShardPosition.After(y, _)) => if (x == y) -1 else x.compare(y)
    case (ShardPosition.After(x, _), ShardPosition.Within(y, _, _)) => if (x == y) 1 else x.compare(y)
    case _ => rank(a) - rank(b)
  }

  private def rank(position: ShardPosition): Int = position match {
    case _: ShardPosition.Start => 0
    case _: ShardPosition.Within | _: ShardPosition.After => 1
    case ShardPosition.ShardEnd => 2
  }
}
