package org.sparkkinesis.plan

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model.{HashKeyRange, ShardId, StartingPosition, StreamShard}

/**
 * What a micro-batch or a batch reads of one shard: everything after `after`, up to and with `end`.
 *
 * @param stream
 *   the stream's name, as rows show it
 */
final case class ShardRange(
    shard: StreamShard,
    stream: String,
    after: StartingPosition,
    end: RangeEnd,
    hashKeyRange: Option[HashKeyRange]
)

/**
 * The ranges that one task reads, one after the other.
 *
 * @param owner
 *   the executor that holds them, if one does
 */
final case class TaskRanges(ranges: Seq[ShardRange], owner: Option[String])

/** Ranges from offsets, and tasks from ranges. Pure. */
object TaskPlanner {

  /**
   * What lies between two offsets.
   *
   * @param lastOfEnded
   *   the number of the last record of a shard that is finished at `end`, where it is known
   */
  def ranges(
      start: SourceOffset,
      end: SourceOffset,
      lastOfEnded: StreamShard => Option[RangeEnd],
      hashKeyRange: StreamShard => Option[HashKeyRange]
  ): Seq[ShardRange] = end.streams.values.toVector.flatMap { stream =>
    // A stream of another creation time was made anew: nothing of it was read.
    val known = start.streams.get(stream.arn).filter(_.creationMillis == stream.creationMillis)
    val before = new Before(known.iterator.flatMap(_.shards))
    val found = Vector.newBuilder[ShardRange]
    stream.shards.foreachEntry { (id, to) =>
      val from = before.of(id)
      if (!isSame(from, to)) {
        val shard = StreamShard(stream.arn, id)
        val last = to match {
          case ShardPosition.After(number, _) => Some(RangeEnd.At(number))
          case ShardPosition.ShardEnd =>
            Some(lastOfEnded(shard).getOrElse(RangeEnd.ShardEnd)).filterNot(isEmpty(_, from))
          // Admitted, but nothing of it is planned yet.
          case _: ShardPosition.Start => None
        }
        for {
          until <- last
          after <- from.resumeAt
        } found += ShardRange(shard, stream.name, after, until, hashKeyRange(shard))
      }
    }
    found.result()
  }

  /**
   * Positions before a batch, asked for in the order of the shards. Both offsets are sorted and have mostly the same shards, of which there
   * may be thousands: going through them side by side spares the look-ups.
   */
  final private class Before(positions: Iterator[(ShardId, ShardPosition)]) {
    private var ahead: (ShardId, ShardPosition) = next()

    /** Of a shard that was not there, the beginning. */
    def of(shard: ShardId): ShardPosition = {
      while (ahead != null && ShardId.ordering.lt(ahead._1, shard)) ahead = next()
      if (ahead != null && ahead._1 == shard) ahead._2 else ShardPosition.Horizon
    }

    private def next(): (ShardId, ShardPosition) = if (positions.hasNext) positions.next() else null
  }

  /** The time in a position says how idle the shard has been, not what was read. */
  private def isSame(from: ShardPosition, to: ShardPosition): Boolean = (from eq to) ||
    (from match {
      case after: ShardPosition.After =>
        to match {
          case other: ShardPosition.After => after.sequenceNumber.value == other.sequenceNumber.value
          case _ => false
        }
      case _ => from == to
    })

  /** A shard whose end came after its last record was planned: a reader would look for that record, and not find it again. */
  private def isEmpty(until: RangeEnd, from: ShardPosition): Boolean = (until, from.resumeAt) match {
    case (RangeEnd.At(last), Some(StartingPosition.AfterSequenceNumber(read))) => last <= read
    case _ => false
  }

  /**
   * Several ranges to a task, all of one owner.
   *
   * @param perTask
   *   ranges for each task; without it, as many as give each of `slots` one task
   */
  def tasks(
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
        // Dealt out in turn, so that the tasks of one owner differ by one range at most.
        val all = ofOwner.toIndexedSeq
        (0 until count).map(first => TaskRanges((first until all.size by count).map(all), owner))
      }
  }
}
