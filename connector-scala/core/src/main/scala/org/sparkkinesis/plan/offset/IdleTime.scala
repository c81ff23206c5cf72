package org.sparkkinesis.plan.offset

import java.util.concurrent.TimeUnit

import org.sparkkinesis.model.StartingPosition

/** Updates the time in the position of a shard without new records: no record arrived until then. Pure. */
private[sparkkinesis] object IdleTime {

  /** Minimum time between two updates in milliseconds, so that offsets rarely change without records. */
  val Period: Long = TimeUnit.HOURS.toMillis(1)

  /** Safety margin in milliseconds, because arrival times are approximate and come from another clock. */
  val Margin: Long = TimeUnit.MINUTES.toMillis(5)

  /** Updates the position of a shard that has no record which arrived between the position and this time. */
  def refresh(position: ShardPosition, readUpToMillis: Long): ShardPosition =
    if (readUpToMillis > 0) moved(position, readUpToMillis - Margin) else position

  /**
   * Updates the position of a shard whose next record arrived at this time, which needs no margin. After a record, the
   * time stays before that, because the record before the position may have arrived at the time of the position.
   */
  def upToNext(position: ShardPosition, firstArrivalMillis: Long): ShardPosition = position match {
    case _: ShardPosition.After => moved(position, firstArrivalMillis - 1)
    case _ => moved(position, firstArrivalMillis)
  }

  /** The time up to which every record is before the position, or `None` if the position has no time. */
  def of(position: ShardPosition): Option[Long] = position match {
    case ShardPosition.After(_, until) => Some(until)
    case ShardPosition.Within(_, _, until) => Some(until)
    case ShardPosition.Start(StartingPosition.AtTimestamp(from)) => Some(from)
    case _ => None
  }

  private def moved(position: ShardPosition, idleUntil: Long): ShardPosition = position match {
    case ShardPosition.After(number, until) if idleUntil - until > Period => ShardPosition.After(number, idleUntil)
    case ShardPosition.Start(StartingPosition.AtTimestamp(from)) if idleUntil - from > Period =>
      ShardPosition.Start(StartingPosition.AtTimestamp(idleUntil))
    // A position without a time would never show that the records after it have expired.
    case ShardPosition.Horizon => ShardPosition.Start(StartingPosition.AtTimestamp(idleUntil))
    case other => other
  }
}
