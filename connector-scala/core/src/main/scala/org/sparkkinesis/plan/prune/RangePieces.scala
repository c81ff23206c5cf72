package org.sparkkinesis.plan.prune

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model.{KinesisQuotas, KinesisRecord, SequenceNumber, StartingPosition}
import org.sparkkinesis.plan.ShardRange

/**
 * Divides large ranges of a batch read into pieces for several tasks. The times of the cuts are chosen, and the first
 * record after each is looked up: pieces begin and end at sequence numbers, so each record is in exactly one. Pure.
 */
object RangePieces {

  /** Size of the smallest piece: a shard's read quota takes eight seconds for it, a cut less than half a second. */
  val MinBytes: Long = 16L * KinesisQuotas.MiB

  /** Number of pieces for each task that can run at once, because records are not evenly distributed over time. */
  val PerSlot = 4

  /** Maximum number of pieces of one shard: the quota of the shard allows five cuts in a second. */
  val PerShard = 16

  /** Returns whether the ranges are too few for so many tasks. */
  def areFew(ranges: Int, slots: Int): Boolean = ranges > 0 && ranges < slots * PerSlot

  /** Returns the number of pieces of one of several ranges, for its size in bytes. */
  def count(bytes: Long, ranges: Int, slots: Int): Int =
    if (!areFew(ranges, slots)) 1
    else {
      val wanted = math.min(PerShard.toLong, (slots * PerSlot + ranges - 1L) / ranges)
      math.max(1L, math.min(wanted, bytes / MinBytes)).toInt
    }

  /** Returns the times between the pieces of a time, in epoch milliseconds. */
  def cuts(fromMillis: Long, toMillis: Long, pieces: Int): Seq[Long] = (1 until pieces).map(piece =>
    fromMillis + ((toMillis - fromMillis).toDouble * piece / pieces).toLong
  ).distinct

  /**
   * Returns the pieces of a range in their order.
   *
   * @param firsts
   *   the first record after each cut, in any order, where there is one
   * @param mayExpire
   *   whether a record that arrived at a time may expire before a task reads it
   */
  def of(range: ShardRange, firsts: Seq[KinesisRecord], mayExpire: Long => Boolean): Seq[ShardRange] = {
    val inside = firsts
      .filter(first => isWithin(first, range))
      .map(first => SequenceNumber.trusted(first.sequenceNumber) -> first.arrivalMillis)
      .distinctBy(_._1).sortBy(_._1)
    val starts = range +: inside.map { case (number, arrival) =>
      range.copy(
        after = StartingPosition.AtSequenceNumber(number),
        skipUpTo = None,
        firstArrivalMillis = Some(arrival).filter(mayExpire)
      )
    }
    starts.zip(inside.map { case (number, _) => Some(number) } :+ range.before).map { case (piece, before) =>
      piece.copy(before = before)
    }
  }

  private def isWithin(first: KinesisRecord, range: ShardRange): Boolean = {
    val isBefore = range.before.forall(SequenceNumber.trusted(first.sequenceNumber) < _)
    isBefore &&
    (range.end match {
      case RangeEnd.ArrivedBy(millis) => first.arrivalMillis <= millis
      case _ => false
    })
  }
}
