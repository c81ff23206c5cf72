package org.sparkkinesis.sink.limit

import scala.concurrent.duration._
import scala.util.control.NonFatal

/**
 * A writer's access to a strategy, which may be a class of the user. Exceptions of the strategy name its class, and its
 * permits can make the writer neither spin nor wait forever.
 */
final private[sink] class CheckedRateLimit(access: RateLimit) {
  import CheckedRateLimit._

  def maxBatchSize: Int = math.max(1, checked("maxBatchSize")(access.maxBatchSize))

  /** The limit for metrics. A failing strategy must not break metrics, so the limit is 0 if it throws. */
  def currentLimit: Double =
    try access.currentLimit
    catch { case NonFatal(_) => 0 }

  /** The batch size for metrics; 0 if the strategy throws. */
  def currentBatchSize: Int =
    try math.max(1, access.maxBatchSize)
    catch { case NonFatal(_) => 0 }

  /**
   * @param answersComing
   *   whether the writer has requests in flight; without one, a permit that waits for a response is requested again
   *   soon
   */
  def acquire(wanted: Int, nowNanos: Long, answersComing: Boolean): Permit = {
    val permit = checked("acquire")(access.acquire(wanted, nowNanos))
    if (permit == null) throw new RateLimitingException(s"${name(access)}.acquire returned null", null)
    else if (permit.entries > 0) permit
    else if (permit.waitNanos == Long.MaxValue && !answersComing) Permit.waitFor(LoneWait.toNanos)
    else permit.copy(entries = 0, waitNanos = math.max(ShortestWait.toNanos, permit.waitNanos))
  }

  def settled(outcome: RequestOutcome, nowNanos: Long): Unit = checked("settled")(access.settled(outcome, nowNanos))

  /** Never throws, because the writer is closed in any case. */
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

/** A rate limiting strategy violates its contract. The message names class and method. */
final class RateLimitingException(message: String, cause: Throwable) extends RuntimeException(message, cause)
