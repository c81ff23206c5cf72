package org.sparkkinesis.sink.limit

import org.sparkkinesis.sink.limit.AimdRateLimiting._

/**
 * Limits the entries in flight: additive increase after a successful request, multiplicative decrease after a failed
 * one.
 *
 * The constants are those of Flink's Kinesis sink: +10 entries, x0.99, at most the entries of all requests. The limit
 * starts with one request and doubles until the first throttling (like TCP slow start), so that a new executor reaches
 * its rate quickly.
 */
final class AimdRateLimiting(context: RateLimitingContext) extends RateLimitingStrategy {
  private val ceiling = context.maxBatchSize.toDouble * context.maxInFlightRequests
  @volatile private var limit = context.maxBatchSize.toDouble
  private var starting = true
  private var reported = limit
  private var inFlight = 0L

  override def currentLimit: Double = limit

  private def report(): Unit = {
    context.limitChanged(reported, limit)
    reported = limit
  }

  override def open(): RateLimit = new RateLimit {
    private var own = 0L
    private var closed = false

    override def maxBatchSize: Int = math.min(context.maxBatchSize, math.max(1, currentLimit.toInt))
    override def currentLimit: Double = AimdRateLimiting.this.currentLimit

    override def acquire(wanted: Int, nowNanos: Long): Permit = AimdRateLimiting.this.synchronized {
      val size = math.min(wanted, math.max(1, limit.toInt))
      if (own == 0 || inFlight + size <= limit) {
        own += size
        inFlight += size
        Permit.grant(size)
      } else Permit.WaitForAnswer
    }

    override def settled(outcome: RequestOutcome, nowNanos: Long): Unit = AimdRateLimiting.this.synchronized {
      if (!closed) {
        own -= outcome.granted
        inFlight -= outcome.granted
      }
      if (outcome.throttled + outcome.failed > 0) {
        limit = math.max(1, limit * DecreaseFactor)
        if (starting) report()
        starting = false
      } else if (outcome.sent > 0) limit = math.min(ceiling, limit + (if (starting) outcome.sent else IncreaseStep))
      if (limit >= reported * 2 || limit <= reported / 2) report()
    }

    override def close(): Unit = AimdRateLimiting.this.synchronized {
      if (!closed) {
        closed = true
        inFlight -= own
      }
    }
  }
}

object AimdRateLimiting {
  val IncreaseStep: Int = 10
  val DecreaseFactor: Double = 0.99
}
