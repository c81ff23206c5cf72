package org.sparkkinesis.sink.limit

/**
 * Limits the entries in flight: additive increase after a successful request, multiplicative decrease after a failed
 * one.
 *
 * The default parameters are those of Flink's Kinesis sink: +10 entries, x0.99, at most the entries of all requests.
 * The limit starts with one request and doubles until the first throttling (like TCP slow start), so that a new
 * executor reaches its rate quickly. Throttling for which a lane is responsible does not change the limit, because it
 * would slow down the entries of all other lanes.
 */
final class AimdRateLimiting(context: RateLimitingContext) extends RateLimitingStrategy {
  private val parameters = context.parameters.aimd
  private val floor = parameters.min.toDouble
  private val ceiling =
    math.max(floor, parameters.max.fold(context.maxBatchSize.toDouble * context.maxInFlightRequests)(_.toDouble))
  @volatile private var limit = math.min(ceiling, math.max(floor, context.maxBatchSize.toDouble))
  private var starting = true
  private var reported = limit
  private var inFlight = 0L

  override def currentLimit: Double = limit

  private def report(): Unit = {
    if (reported.round != limit.round) context.limitChanged(reported, limit)
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
      if (outcome.throttled - outcome.paced + outcome.failed > 0) {
        limit = math.max(floor, limit * parameters.decrease)
        if (starting) report()
        starting = false
      } else if (outcome.sent > 0)
        limit = math.min(ceiling, limit + (if (starting) outcome.sent else parameters.increase))
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

  /**
   * @param increase
   *   number of entries by which the limit grows
   * @param decrease
   *   factor by which the limit is reduced
   * @param max
   *   empty for the entries of all requests
   */
  final case class Parameters(increase: Int, decrease: Double, min: Int, max: Option[Int])
}
