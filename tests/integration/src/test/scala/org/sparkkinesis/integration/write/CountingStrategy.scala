package org.sparkkinesis.integration.write

import java.util.concurrent.atomic.AtomicInteger

import org.sparkkinesis.sink.limit.{
  NoRateLimiting, Permit, RateLimit, RateLimitingContext, RateLimitingStrategy, RequestOutcome
}

/** A custom strategy without limits that counts its calls. */
class CountingStrategy(context: RateLimitingContext) extends RateLimitingStrategy {
  CountingStrategy.made.incrementAndGet()
  private val unlimited = new NoRateLimiting(context)

  override def currentLimit: Double = unlimited.currentLimit
  override def open(): RateLimit = {
    val access = unlimited.open()
    new RateLimit {
      override def maxBatchSize: Int = access.maxBatchSize
      override def acquire(wanted: Int, nowNanos: Long): Permit = access.acquire(wanted, nowNanos)
      override def settled(outcome: RequestOutcome, nowNanos: Long): Unit = {
        CountingStrategy.sent.addAndGet(outcome.accepted)
        access.settled(outcome, nowNanos)
      }
      override def currentLimit: Double = access.currentLimit
      override def close(): Unit = access.close()
    }
  }
}

object CountingStrategy {
  val made = new AtomicInteger
  val sent = new AtomicInteger
}
