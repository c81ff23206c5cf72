package org.sparkkinesis.service

/** A change of a stream that a statement of a catalog requests. */
sealed abstract class ChangeRequest(val operation: Operation.Change)

object ChangeRequest {

  /** @param shards number of shards of a provisioned stream; an on-demand stream has none */
  final case class Create(shards: Option[Int]) extends ChangeRequest(Operation.CreateStream)

  /** Deletes a stream without registered consumers, with all its records. */
  case object Delete extends ChangeRequest(Operation.DeleteStream)

  /** @param shards at most twice and at least half as many as the stream has */
  final case class Reshard(shards: Int) extends ChangeRequest(Operation.UpdateShardCount)
  final case class IncreaseRetention(hours: Int) extends ChangeRequest(Operation.IncreaseStreamRetentionPeriod)

  /** Records that are older are lost at once. */
  final case class DecreaseRetention(hours: Int) extends ChangeRequest(Operation.DecreaseStreamRetentionPeriod)

  /** The service identifies the stream by its ARN. */
  final case class SetMode(onDemand: Boolean) extends ChangeRequest(Operation.UpdateStreamMode)

  /**
   * Returns the numbers of shards through which a stream gets from one number to another: each is at most twice, and at
   * least half of the one before.
   */
  def shardCounts(from: Int, to: Int): List[Int] =
    if (from == to) Nil
    else {
      val next = if (to > from) math.min(to, from * 2) else math.max(to, (from + 1) / 2)
      next :: shardCounts(next, to)
    }
}
