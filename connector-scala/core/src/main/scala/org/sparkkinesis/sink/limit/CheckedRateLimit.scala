package org.sparkkinesis.sink.limit

import scala.concurrent.duration._
import scala.util.control.NonFatal

/**
 * A writer's access to a strategy that may be a user's own: what the strategy throws says whose fault it is, and what it answers
 * can neither make the writer spin nor wait for ever.
 */
final private[sink] class CheckedRateLimit(access: RateLimit) {
  import CheckedRateLimit._

  def maxBatchSize: Int = math.max(1, checked("maxBatchSize")(access.maxBatchSize))

  /** For metrics, which a broken strategy must not break: zero when it throws. */
  def currentLimit: Double =
    try access.currentLimit
    catch { case NonFatal(_) => 0 }

  /**
   * @param answersComing
   *   whether requests of the writer are under way; without one, a permit that waits for an answer is asked for again soon
   */
  def acquire(wanted: Int, nowNanos: Long, answersComing: Boolean): Permit = {
    val permit = checked("acquire")(access.acquire(wanted, nowNanos))
    if (permit == null) throw new RateLimitingException(s"${name(access)}.acquire returned null", null)
    else if (permit.entries > 0) permit
    else if (permit.waitNanos == Long.MaxValue && !answersComing) Permit.waitFor(LoneWait.toNanos)
    else permit.copy(entries = 0, waitNanos = math.max(ShortestWait.toNanos, permit.waitNanos))
  }

  def settled(outcome: RequestOutcome, nowNanos: Long): Unit = checked("settled")(access.settled(outcome, nowNanos))

  /** Never throws: the writer is closed either way. */
  def close(): Unit =
    try access.close()
    catch { case NonFatal(_) => () }

  private def checked[A](method: String)(body: => A): A =
    try body
    catch {
      case NonFatal(error) => throw new RateLimitingException(s"${name(access)}.$method threw $error", error)
    }
}

private object CheckedRateLimit {
  private val ShortestWait = 100.micros
  private val LoneWait = 100.millis

  private def name(access: RateLimit): String = access.getClass.getName
}

/** A rate limiting strategy does not keep to its contract. The message names the class and the method. */
final class RateLimitingException(message: String, cause: Throwable) extends RuntimeException(message, cause)
