package org.sparkkinesis.plan

import java.util.concurrent.TimeUnit

import org.sparkkinesis.model.StartingPosition

/** Updates the time in the position of a shard without new records: no record arrived until then. Pure. */
private[plan] object IdleTime {

  /** Minimum time between two updates in milliseconds, so that offsets rarely change without records. */
  val Period: Long = TimeUnit.HOURS.toMillis(1)

  /** Safety margin in milliseconds, because arrival times are approximate and come from another clock. */
  val Margin: Long = TimeUnit.MINUTES.toMillis(5)

  def refresh(position: ShardPosition, readUpToMillis: Long): ShardPosition = {
    val idleUntil = readUpToMillis - Margin
    position match {
      case ShardPosition.After(number, until) if idleUntil - until > Period => ShardPosition.After(number, idleUntil)
      case ShardPosition.Start(StartingPosition.AtTimestamp(from)) if idleUntil - from > Period =>
        ShardPosition.Start(StartingPosition.AtTimestamp(idleUntil))
      case other => other
    }
  }
}
