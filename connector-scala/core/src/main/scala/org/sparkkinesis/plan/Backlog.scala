package org.sparkkinesis.plan

import scala.concurrent.duration._

/**
 * Decides how long a batch waits for more records while the query reads old records. Larger batches spread the fixed
 * costs of a batch over more rows, and the wait is short compared with the time by which the query is behind.
 */
object Backlog {

  /** A batch waits for at most this part of the time by which fetching is behind the tip of the stream. */
  val PartOfDelay: Double = 0.05

  /** Maximum time between the planning of two batches because of a backlog. */
  val LongestInterval: FiniteDuration = 1.second

  /**
   * Returns for how many milliseconds the next batch still waits; 0 if it does not.
   *
   * @param millisBehind
   *   how far fetching is behind the tip, in the least late shard with records for the batch
   * @param millisSinceLastBatch
   *   time since the last batch was planned
   */
  def waitMillis(millisBehind: Long, millisSinceLastBatch: Long): Long = {
    val interval = math.min(LongestInterval.toMillis, (millisBehind * PartOfDelay).toLong)
    math.max(0, interval - millisSinceLastBatch)
  }
}
