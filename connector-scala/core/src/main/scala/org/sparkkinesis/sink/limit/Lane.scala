package org.sparkkinesis.sink.limit

/**
 * A part of the destination with its own limits, for Kinesis a shard. Shared by all writers, thread-safe and
 * non-blocking.
 */
trait Lane {

  /** Reserves capacity for one entry of `size` bytes, or returns false if the lane must wait. */
  def tryTake(size: Int, nowNanos: Long): Boolean

  /** Time at which the lane may accept an entry after `tryTake` returned false. */
  def readyAtNanos(nowNanos: Long): Long

  /**
   * Reports the results of the lane's entries in one request. Returns true if the lane handles the throttling: the
   * strategy is told so, and need not change the limits of the whole destination.
   */
  def settled(accepted: Int, throttled: Int, sentAtNanos: Long, nowNanos: Long): Boolean
}

object Lane {

  /** The lane of destinations without separate limits. */
  object Unlimited extends Lane {
    override def tryTake(size: Int, nowNanos: Long): Boolean = true
    override def readyAtNanos(nowNanos: Long): Long = nowNanos
    override def settled(accepted: Int, throttled: Int, sentAtNanos: Long, nowNanos: Long): Boolean = false
  }
}
