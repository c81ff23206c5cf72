package org.sparkkinesis.plan

import scala.collection.mutable

/**
 * Shares the limits of a batch between the shards. The next chunk comes from the shard with the fewest rows so far, and
 * among equals from the shard whose next records have waited longest. Shards with few records are read completely, and
 * no shard starves. If shards are aligned, the next chunk is always the oldest one.
 */
private[plan] object FairShare {

  def take(candidates: Seq[Candidate], limits: ReadLimits): Seq[Candidate] = {
    if (limits.maxRecords.isEmpty && limits.maxBytes.isEmpty) candidates.foreach(_.takeAll())
    else {
      val isAligned = limits.maxAheadMillis.nonEmpty
      share(candidates, limits, if (isAligned) oldestFirst else leastGivenFirst, isAligned)
      // A limit below the size of every chunk must not stop the query.
      if (candidates.nonEmpty && candidates.forall(_.count == 0))
        candidates.minBy(if (isAligned) arrival else waitingSince).takeNext()
    }
    candidates
  }

  /**
   * @param inOrder
   *   whether the first chunk that does not fit ends the batch, instead of only its shard's part
   */
  private def share(
      candidates: Seq[Candidate],
      limits: ReadLimits,
      order: Ordering[Candidate],
      inOrder: Boolean
  ): Unit = {
    var rowsLeft = limits.maxRecords.getOrElse(Long.MaxValue)
    var bytesLeft = limits.maxBytes.getOrElse(Long.MaxValue)
    val waiting = mutable.PriorityQueue.from(candidates)(order)
    while (waiting.nonEmpty && rowsLeft > 0 && bytesLeft > 0) {
      val candidate = waiting.dequeue()
      candidate.next.foreach { chunk =>
        if (chunk.rows <= rowsLeft && chunk.bytes <= bytesLeft) {
          candidate.takeNext()
          rowsLeft -= chunk.rows
          bytesLeft -= chunk.bytes
          waiting.enqueue(candidate)
        } else if (inOrder) waiting.clear()
      }
    }
  }

  private val waitingSince = (candidate: Candidate) => candidate.next.fold(Long.MaxValue)(_.newestArrivalMillis)
  private val arrival = (candidate: Candidate) => candidate.next.fold(Long.MaxValue)(_.firstArrivalMillis)

  private val leastGivenFirst: Ordering[Candidate] =
    Ordering.by[Candidate, (Long, Long)](candidate => (candidate.rows, waitingSince(candidate))).reverse
  private val oldestFirst: Ordering[Candidate] = Ordering.by(arrival).reverse
}
