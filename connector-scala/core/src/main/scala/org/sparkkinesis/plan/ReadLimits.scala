package org.sparkkinesis.plan

/**
 * The limits of one micro-batch.
 *
 * @param maxRecords
 *   maximum number of rows
 * @param maxBytes
 *   maximum number of bytes of payloads and keys
 * @param maxAheadMillis
 *   maximum time in milliseconds between the oldest record, of any shard, that a batch leaves and the newest record
 *   that it takes; empty if shards are read independently
 */
final case class ReadLimits(
    maxRecords: Option[Long] = None,
    maxBytes: Option[Long] = None,
    maxAheadMillis: Option[Long] = None
)

object ReadLimits {
  val Unlimited: ReadLimits = ReadLimits()
}

/**
 * Decides whether a batch waits for more rows.
 *
 * @param records
 *   minimum number of rows
 * @param maxDelayMillis
 *   maximum time since the last batch in milliseconds
 */
final case class MinimumRecords(records: Long, maxDelayMillis: Long) {

  /** A full buffer is sufficient too, because nothing more is fetched until it is read. */
  def isReached(available: Long, millisSinceLastBatch: Long, bufferIsFull: Boolean): Boolean =
    available >= records || bufferIsFull || millisSinceLastBatch >= maxDelayMillis
}
