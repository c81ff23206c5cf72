package org.sparkkinesis.sink

/**
 * Time at which a destination last accepted an entry of any writer in this process. The writers of a destination share
 * it, so that a writer whose entries wait behind those of others does not count as one whose destination has failed.
 * Thread-safe.
 */
final class DeliveryProgress {
  @volatile private var isAny = false
  @volatile private var lastNanos = 0L

  /** The destination has accepted at least one entry. */
  def accepted(nowNanos: Long): Unit = {
    lastNanos = nowNanos
    isAny = true
  }

  /** The time in nanoseconds at which the destination last accepted an entry. */
  def acceptedAt: Option[Long] = if (isAny) Some(lastNanos) else None

  /**
   * Returns the time from which the delivery timeout of an entry counts: the time of `write`, or the later time at
   * which the destination last accepted an entry.
   */
  def since(writtenAtNanos: Long): Long =
    if (isAny && lastNanos - writtenAtNanos > 0) lastNanos else writtenAtNanos
}
