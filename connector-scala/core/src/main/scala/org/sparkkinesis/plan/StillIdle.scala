package org.sparkkinesis.plan

import java.util.concurrent.TimeUnit

import org.sparkkinesis.model.StartingPosition

/** Moves the time in the position of a shard without news forward: nothing arrived until then. Pure. */
private[plan] object StillIdle {

  /** Seldom enough that offsets stay the same from batch to batch. */
  val Period: Long = TimeUnit.HOURS.toMillis(1)

  /** Arrival times come from another clock, and are approximate. */
  val Margin: Long = TimeUnit.MINUTES.toMillis(5)

  def refresh(position: ShardPosition, readUpToMillis: Long): ShardPosition = {
    val surely = readUpToMillis - Margin
    position match {
      case ShardPosition.After(number, until) if surely - until > Period => ShardPosition.After(number, surely)
      case ShardPosition.Start(StartingPosition.AtTimestamp(from)) if surely - from > Period =>
        ShardPosition.Start(StartingPosition.AtTimestamp(surely))
      case other => other
    }
  }
}
