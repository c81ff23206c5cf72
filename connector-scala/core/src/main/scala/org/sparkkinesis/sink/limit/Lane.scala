package org.sparkkinesis.sink.limit

/** A part of the destination with limits of its own, for Kinesis a shard. Shared by all writers; thread-safe; never blocks. */
trait Lane {

  /** Takes room for one entry of `size` bytes, or says that the lane must wait. */
  def tryTake(size: Int, nowNanos: Long): Boolean

  /** When it is worth asking again after a refusal. */
  def readyAtNanos(nowNanos: Long): Long

  /**
   * Tells how entries of this lane fared in one request; true when the lane answers for the throttling itself, so that the
   * limits of the whole destination need not.
   */
  def settled(accepted: Int, throttled: Int, sentAtNanos: Long, nowNanos: Long): Boolean
}

object Lane {

  /** For destinations without lanes. */
  object Unlimited extends Lane {
    override def tryTake(size: Int, nowNanos: Long): Boolean = true
    override def readyAtNanos(nowNanos: Long): Long = nowNanos
    override def settled(accepted: Int, throttled: Int, sentAtNanos: Long, nowNanos: Long): Boolean = false
  }
}
