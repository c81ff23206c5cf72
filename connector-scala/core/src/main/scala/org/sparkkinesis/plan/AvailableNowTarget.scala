package org.sparkkinesis.plan

import org.sparkkinesis.chunk.ChunkSummary

/**
 * How far `Trigger.AvailableNow` reads: what arrived until it started. Pure, and without a memory of its own, so that it
 * gives the same answer after an executor was lost and its shards were fetched again.
 *
 * @param millis
 *   epoch milliseconds
 */
final case class AvailableNowTarget(millis: Long) {

  /** The chunks that a batch may take. The last one may hold some later records too. */
  def within(chunks: IndexedSeq[ChunkSummary]): IndexedSeq[ChunkSummary] =
    chunks.takeWhile(_.firstArrivalMillis <= millis)

  /**
   * Whether nothing more of this shard can belong to the target.
   *
   * @param chunks
   *   fetched and not planned
   * @param readUpToMillis
   *   everything that arrived until then was fetched
   */
  def isReached(chunks: IndexedSeq[ChunkSummary], readUpToMillis: Long, ended: Boolean): Boolean =
    within(chunks).isEmpty && (ended || readUpToMillis >= millis || chunks.nonEmpty)
}
