package org.sparkkinesis.plan

import org.sparkkinesis.chunk.ChunkSummary

/**
 * The end of a query with `Trigger.AvailableNow`: all records that arrived before it started. Pure and stateless, so
 * that its result stays the same after an executor was lost and its shards are fetched again.
 *
 * @param millis
 *   start of the query, epoch milliseconds
 */
final case class AvailableNowTarget(millis: Long) {

  /** Returns the chunks that a batch may take. The last one may also contain later records. */
  def within(chunks: IndexedSeq[ChunkSummary]): IndexedSeq[ChunkSummary] =
    chunks.takeWhile(_.firstArrivalMillis <= millis)

  /**
   * Whether the shard has no more records for the target.
   *
   * @param chunks
   *   chunks that are fetched and not planned
   * @param readUpToMillis
   *   all records that arrived until this time are fetched
   */
  def isReached(chunks: IndexedSeq[ChunkSummary], readUpToMillis: Long, ended: Boolean): Boolean =
    within(chunks).isEmpty && (ended || readUpToMillis >= millis || chunks.nonEmpty)
}
