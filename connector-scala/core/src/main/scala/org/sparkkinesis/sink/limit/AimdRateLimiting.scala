package org.sparkkinesis.sink.limit

import org.sparkkinesis.sink.limit.AimdRateLimiting._

/**
 * Bounds the entries under way: up by a fixed step after a request that went through, down by a factor after one that did not.
 *
 * The constants are those of Flink's Kinesis sink: +10 entries, x0.99, at most all requests full. It starts with one request,
 * and doubles until the first refusal (as TCP's slow start does), so that a fresh executor is not held back for minutes.
 */
final class AimdRateLimiting(context: RateLimitingContext) extends RateLimitingStrategy {
  private val ceiling = context.maxBatchSize.toDouble * context.maxInFlightRequests
  @volatile private var limit = context.maxBatchSize.toDouble
  private var starting = true
  private var inFlight = 0L

  override def currentLimit: Double = limit

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
        starting = false
        limit = math.max(1, limit * DecreaseFactor)
      } else if (outcome.sent > 0) limit = math.min(ceiling, limit + (if (starting) outcome.sent else IncreaseStep))
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
