package org.sparkkinesis.plan

import scala.collection.mutable

import org.sparkkinesis.plan.BatchPlanner.Candidate

/**
 * Shares the limits of a batch between the shards. The next chunk comes from the shard with the fewest rows so far, and
 * among equals from the shard whose next records have waited longest. Shards with few records are read completely, and
 * no shard starves.
 */
private[plan] object FairShare {

  def take(candidates: Seq[Candidate], limits: ReadLimits): Seq[Candidate] = {
    if (limits == ReadLimits.Unlimited) candidates.foreach(_.takeAll())
    else share(candidates, limits)
    candidates
  }

  private def share(candidates: Seq[Candidate], limits: ReadLimits): Unit = {
    var rowsLeft = limits.maxRecords.getOrElse(Long.MaxValue)
    var bytesLeft = limits.maxBytes.getOrElse(Long.MaxValue)
    val waiting = mutable.PriorityQueue.from(candidates)(leastGivenFirst)
    while (waiting.nonEmpty && rowsLeft > 0 && bytesLeft > 0) {
      val candidate = waiting.dequeue()
      candidate.next.filter(chunk => chunk.rows <= rowsLeft && chunk.bytes <= bytesLeft).foreach { chunk =>
        candidate.takeNext()
        rowsLeft -= chunk.rows
        bytesLeft -= chunk.bytes
        waiting.enqueue(candidate)
      }
    }
    // A limit below the size of every chunk must not stop the query.
    if (candidates.nonEmpty && candidates.forall(_.count == 0)) candidates.minBy(waitingSince).takeNext()
  }

  private def waitingSince(candidate: Candidate): Long = candidate.next.fold(Long.MaxValue)(_.newestArrivalMillis)

  private val leastGivenFirst: Ordering[Candidate] =
    Ordering.by[Candidate, (Long, Long)](candidate => (candidate.rows, waitingSince(candidate))).reverse
}
