package org.sparkkinesis.sink.limit

/**
 * Decides how fast requests go to one destination. One instance serves all writers of that destination in the JVM, so what it
 * has learned outlives a writer. Thread-safe; never blocks. An extension point: a user's class has a constructor that takes
 * [[RateLimitingContext]].
 */
trait RateLimitingStrategy {

  /** A writer's own access to the limits that all share. */
  def open(): RateLimit

  /** The present limit, in the strategy's own unit; for metrics. */
  def currentLimit: Double
}

/** One writer's access. */
trait RateLimit extends AutoCloseable {

  /** The greatest request worth making now. */
  def maxBatchSize: Int

  /**
   * Asks to send up to `wanted` entries now. A writer with nothing under way is refused for a time only, never until others are
   * done: nobody would wake it.
   */
  def acquire(wanted: Int, nowNanos: Long): Permit

  /** Every granted permit is settled by exactly one call. */
  def settled(outcome: RequestOutcome, nowNanos: Long): Unit

  def currentLimit: Double
}

/**
 * The answer to [[RateLimit.acquire]]: `entries` may go now; when zero, ask again after `waitNanos`, or after the next answer of
 * a request of one's own, whichever comes first.
 */
final case class Permit(entries: Int, waitNanos: Long)

object Permit {
  def grant(entries: Int): Permit = Permit(entries, 0)
  def waitFor(nanos: Long): Permit = Permit(0, math.max(1, nanos))
  val WaitForAnswer: Permit = Permit(0, Long.MaxValue)
}

/**
 * How a request fared.
 *
 * @param granted
 *   what the permit allowed
 * @param sent
 *   what the request carried; zero when it was not made after all
 * @param throttled
 *   entries refused for going too fast, without those that a lane answers for
 * @param failed
 *   entries that failed in another way, or got no answer
 */
final case class RequestOutcome(granted: Int, sent: Int, throttled: Int, failed: Int) {
  def accepted: Int = sent - throttled - failed
}

/**
 * What a strategy may want to know.
 *
 * @param partitions
 *   how many independent parts the destination has now, for Kinesis its open shards; zero while unknown
 * @param perPartition
 *   how many entries one part takes in a second, as far as is known now
 */
final class RateLimitingContext(
    val maxBatchSize: Int,
    val maxInFlightRequests: Int,
    val partitions: () => Int,
    perPartition: () => Int
) {

  /** How many entries one part takes in a second, as far as is known now. */
  def entriesPerPartition: Int = perPartition()
}

object RateLimitingContext {

  /** For a destination whose parts always take the same number of entries. */
  def apply(
      maxBatchSize: Int,
      maxInFlightRequests: Int,
      partitions: () => Int,
      entriesPerPartition: Int
  ): RateLimitingContext =
    new RateLimitingContext(maxBatchSize, maxInFlightRequests, partitions, () => entriesPerPartition)
}
