package org.sparkkinesis.sink.limit

/** Grants every request. Failed entries still have a backoff before they are sent again. */
final class NoRateLimiting(context: RateLimitingContext) extends RateLimitingStrategy {
  override def currentLimit: Double = Double.PositiveInfinity

  override def open(): RateLimit = new RateLimit {
    override def maxBatchSize: Int = context.maxBatchSize
    override def acquire(wanted: Int, nowNanos: Long): Permit = Permit.grant(wanted)
    override def settled(outcome: RequestOutcome, nowNanos: Long): Unit = ()
    override def currentLimit: Double = Double.PositiveInfinity
    override def close(): Unit = ()
  }
}
