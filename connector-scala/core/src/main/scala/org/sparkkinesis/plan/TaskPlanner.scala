package org.sparkkinesis.plan

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamShard, UserRecord}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset}

/**
 * The records of one shard that a batch reads: all records after `after`, up to and including `end`.
 *
 * @param stream
 *   name of the stream, as in the rows
 * @param skipUpTo
 *   the last user record before the range, if the range begins within the record at `after`
 * @param firstArrivalMillis
 *   when the first record of the range arrived, epoch milliseconds, if it is known
 * @param maxRecords
 *   maximum number of records in the range, if it is known and they are large
 * @param creationMillis
 *   creation time of the stream, in epoch milliseconds, for a range that may be in memory
 * @param before
 *   the first sequence number after the range, which need not exist, if the range ends before `end`
 */
final case class ShardRange(
    shard: StreamShard,
    stream: String,
    after: StartingPosition,
    end: RangeEnd,
    hashKeyRange: Option[HashKeyRange],
    skipUpTo: Option[UserRecord] = None,
    firstArrivalMillis: Option[Long] = None,
    maxRecords: Option[Long] = None,
    creationMillis: Long = 0,
    before: Option[SequenceNumber] = None
)

/**
 * The ranges that one task reads one after the other.
 *
 * @param owner
 *   the executor that holds the records, if there is one
 */
final case class TaskRanges(ranges: Seq[ShardRange], owner: Option[String])

/** Computes the ranges between two offsets and the tasks for these ranges. Pure. */
object TaskPlanner {

  /**
   * Returns the ranges between two offsets. There are none of parked streams: positions in them change only because no
   * record was left.
   *
   * @param finished
   *   the last records of shards that are finished at `end`, where they are known; `None` for a shard of which the
   *   range has no record
   */
  def ranges(
      start: SourceOffset,
      end: SourceOffset,
      finished: Map[StreamShard, Option[SequenceNumber]],
      hashKeyRange: StreamShard => Option[HashKeyRange]
  ): Seq[ShardRange] = end.read.toVector.flatMap { stream =>
    // A stream with another creation time was recreated, and nothing of it was read.
    val known = start.streams.get(stream.arn).filter(_.creationMillis == stream.creationMillis)
    val before = new PositionsBefore(known.iterator.flatMap(_.shards))
    val found = Vector.newBuilder[ShardRange]
    stream.shards.foreachEntry { (id, to) =>
      val from = before.of(id)
      if (!isSame(from, to)) {
        val shard = StreamShard(stream.arn, id)
        val last = to match {
          case ShardPosition.After(number, _) => Some(RangeEnd.At(number))
          case ShardPosition.Within(number, sub, _) => Some(RangeEnd.Within(UserRecord(number, sub)))
          case ShardPosition.ShardEnd =>
            finished.get(shard).fold[Option[RangeEnd]](Some(RangeEnd.ShardEnd))(_.map(RangeEnd.At(_)))
          // The shard was added, but none of its records are planned.
          case _: ShardPosition.Start => None
        }
        for {
          until <- last
          after <- from.resumeAt
        } found += ShardRange(
          shard,
          stream.name,
          after,
          until,
          hashKeyRange(shard),
          from.partOfNext,
          creationMillis = stream.creationMillis
        )
      }
    }
    found.result()
  }

  /**
   * Returns the streams of which a batch reads a shard together with one that may be its parent: a shard that began in
   * the batch, and one that was finished in it. Real-time batches do that, and micro-batches that repeat one.
   */
  def streamsInOrder(start: SourceOffset, end: SourceOffset, ranges: Seq[ShardRange]): Set[String] =
    end.streams.valuesIterator.filter { stream =>
      // Mostly there is none, and there may be thousands of ranges.
      stream.shards.valuesIterator.contains(ShardPosition.ShardEnd) && {
        val ofStream = ranges.filter(_.shard.stream == stream.arn)
        ofStream.exists(range => stream.shards(range.shard.shard) == ShardPosition.ShardEnd) &&
        ofStream.exists(range => !start.streams.get(stream.arn).exists(_.shards.contains(range.shard.shard)))
      }
    }.map(_.arn).toSet

  /**
   * Positions before a batch, requested in the order of the shards. Both offsets are sorted and contain mostly the same
   * shards, so iterating over both avoids thousands of lookups.
   */
  final private class PositionsBefore(positions: Iterator[(ShardId, ShardPosition)]) {
    private var ahead: (ShardId, ShardPosition) = next()

    /** Returns TRIM_HORIZON for a shard that is not in the start offset. */
    def of(shard: ShardId): ShardPosition = {
      while (ahead != null && ShardId.ordering.lt(ahead._1, shard)) ahead = next()
      if (ahead != null && ahead._1 == shard) ahead._2 else ShardPosition.Horizon
    }

    private def next(): (ShardId, ShardPosition) = if (positions.hasNext) positions.next() else null
  }

  /** The time in a position says how long the shard was idle, not what was read. */
  private def isSame(from: ShardPosition, to: ShardPosition): Boolean = (from eq to) ||
    (from match {
      case after: ShardPosition.After =>
        to match {
          case other: ShardPosition.After => after.sequenceNumber.value == other.sequenceNumber.value
          case _ => false
        }
      case within: ShardPosition.Within => to.partOfNext == within.partOfNext
      case _ => from == to
    })

  /**
   * Groups the ranges of each owner into tasks.
   *
   * @param perTask
   *   number of ranges per task; without it, the ranges are spread over `slots` tasks
   * @param inOrder
   *   streams of which one task reads all ranges, in the order of the shards, so that parents come before their
   *   children
   */
  def tasks(
      ranges: Seq[ShardRange],
      owner: StreamShard => Option[String],
      perTask: Option[Int],
      slots: Int,
      inOrder: Set[String] = Set.empty
  ): Seq[TaskRanges] = {
    val (ordered, independent) = ranges.partition(range => inOrder(range.shard.stream))
    val sequences = ordered.groupBy(_.shard.stream).toSeq.sortBy(_._1).map { case (_, ofStream) =>
      TaskRanges(ofStream.sortBy(_.shard.shard), ofStream.flatMap(range => owner(range.shard)).headOption)
    }
    sequences ++ spread(independent, owner, perTask, slots)
  }

  private def spread(
      ranges: Seq[ShardRange],
      owner: StreamShard => Option[String],
      perTask: Option[Int],
      slots: Int
  ): Seq[TaskRanges] = {
    val size = perTask.getOrElse(math.max(1, (ranges.size + slots - 1) / math.max(1, slots)))
    ranges
      .groupBy(range => owner(range.shard))
      .toSeq
      .sortBy(_._1)
      .flatMap { case (owner, ofOwner) =>
        val count = math.max(1, (ofOwner.size + size - 1) / size)
        // Ranges are assigned in turn, so that the tasks of one owner differ by at most one range.
        val all = ofOwner.toIndexedSeq
        (0 until count).map(first => TaskRanges((first until all.size by count).map(all), owner))
      }
  }
}
