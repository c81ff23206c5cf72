package org.sparkkinesis.sink.limit

/**
 * Limits the rate of requests to one destination. All writers of the destination in a JVM share one instance, so that
 * its state outlives a writer. Thread-safe and non-blocking. This is an extension point: a class of the user has a
 * constructor with a [[RateLimitingContext]] parameter.
 */
trait RateLimitingStrategy {

  /** Creates the access of one writer. */
  def open(): RateLimit

  /** The current limit in the strategy's own unit, for metrics. */
  def currentLimit: Double
}

/** The access of one writer to the shared limits. */
trait RateLimit extends AutoCloseable {

  /** Maximum useful size of a request at this time. */
  def maxBatchSize: Int

  /**
   * Requests permission to send at most `wanted` entries. A writer without requests in flight must receive a time to
   * wait; otherwise nothing would wake it.
   */
  def acquire(wanted: Int, nowNanos: Long): Permit

  /** Called exactly once for every granted permit. */
  def settled(outcome: RequestOutcome, nowNanos: Long): Unit

  def currentLimit: Double
}

/**
 * Result of [[RateLimit.acquire]]: `entries` may be sent now. If it is 0, the writer asks again after `waitNanos`, or
 * after the next response to one of its requests.
 */
final case class Permit(entries: Int, waitNanos: Long)

object Permit {
  def grant(entries: Int): Permit = Permit(entries, 0)
  def waitFor(nanos: Long): Permit = Permit(0, math.max(1, nanos))
  val WaitForAnswer: Permit = Permit(0, Long.MaxValue)
}

/**
 * Result of a request.
 *
 * @param granted
 *   number of entries that the permit allowed
 * @param sent
 *   number of entries in the request; 0 if it was not sent
 * @param throttled
 *   number of throttled entries
 * @param failed
 *   number of entries that failed for another reason or had no response
 * @param paced
 *   number of the throttled entries whose lane has a rate of its own because of them, for Kinesis with `shardLimits`
 * @param sentAtNanos
 *   the time at which the request was sent
 */
final case class RequestOutcome(
    granted: Int,
    sent: Int,
    throttled: Int,
    failed: Int,
    paced: Int = 0,
    sentAtNanos: Long = 0
) {
  def accepted: Int = sent - throttled - failed
}
