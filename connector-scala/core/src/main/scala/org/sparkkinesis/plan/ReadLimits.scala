package org.sparkkinesis.plan

/**
 * What one micro-batch may hold.
 *
 * @param maxRecords
 *   rows
 * @param maxBytes
 *   payload and keys
 */
final case class ReadLimits(maxRecords: Option[Long] = None, maxBytes: Option[Long] = None)

object ReadLimits {
  val Unlimited: ReadLimits = ReadLimits()
}

/**
 * Whether a batch waits for more rows.
 *
 * @param records
 *   rows that are enough
 * @param maxDelayMillis
 *   longest time since the last batch
 */
final case class MinimumRecords(records: Long, maxDelayMillis: Long) {

  /** A full buffer is enough too: no more would come until it is read. */
  def isReached(available: Long, millisSinceLastBatch: Long, bufferIsFull: Boolean): Boolean =
    available >= records || bufferIsFull || millisSinceLastBatch >= maxDelayMillis
}
