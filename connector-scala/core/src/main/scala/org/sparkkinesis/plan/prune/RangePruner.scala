package org.sparkkinesis.plan.prune

import scala.concurrent.duration._

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model.{SequenceNumber, StartingPosition}
import org.sparkkinesis.plan.ShardRange

/**
 * A range that a condition has reduced.
 *
 * @param from
 *   a number from which to read it, if it is a number of this shard, which only the service knows
 * @param isOneNumber
 *   whether the record with this number is the only one that is wanted
 */
final case class PrunedRange(range: ShardRange, from: Option[SequenceNumber], isOneNumber: Boolean)

/** Reduces the ranges of a batch read to the records that a query may want. Pure. */
object RangePruner {

  /**
   * How far the arrival times of two records may differ from their order in the shard. The service says that arrival
   * times are approximate and not always increasing, and gives no bound. The machines of the service that serve one
   * shard one after the other have synchronized clocks, which differ by milliseconds, so this is a large multiple.
   */
  val ArrivalSkew: FiniteDuration = 1.minute

  /**
   * Returns the part of a range within the bounds; `None` if it has no record.
   *
   * @param oldestMillis
   *   a time before which the records of the stream have expired
   * @param nowMillis
   *   the service's time when the read was planned
   */
  def apply(range: ShardRange, bounds: ReadBounds, oldestMillis: Long, nowMillis: Long): Option[PrunedRange] = {
    val skew = ArrivalSkew.toMillis
    val first = if (bounds.fromMillis < Long.MinValue + skew) Long.MinValue else bounds.fromMillis - skew
    val last = if (bounds.toMillis > Long.MaxValue - skew) Long.MaxValue else bounds.toMillis + skew
    val until = range.end match {
      case RangeEnd.ArrivedBy(millis) => RangeEnd.ArrivedBy(math.min(millis, last))
      case other => other
    }
    val isEmpty = first > nowMillis || last < oldestMillis ||
      (range.end match {
        case RangeEnd.ArrivedBy(millis) => first > millis
        case _ => false
      })
    Option.unless(isEmpty) {
      val after = range.after match {
        case StartingPosition.TrimHorizon if first > oldestMillis => StartingPosition.AtTimestamp(first)
        case StartingPosition.AtTimestamp(millis) if first > millis => StartingPosition.AtTimestamp(first)
        case other => other
      }
      // A number and the user's own position: which is later is unknown.
      val from = bounds.from.filter(_ => range.after == StartingPosition.TrimHorizon)
      val before = (range.before ++ bounds.to.map(next)).minOption
      val pruned = range.copy(
        after = after,
        end = until,
        firstArrivalMillis = range.firstArrivalMillis.filter(_ => after == range.after),
        before = before
      )
      PrunedRange(pruned, from, from.nonEmpty && bounds.isOneNumber)
    }
  }

  private def next(number: SequenceNumber): SequenceNumber = SequenceNumber((BigInt(number.value) + 1).toString)
}
