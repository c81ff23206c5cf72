package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.sparkkinesis.sink.limit.BatchAndDelayRateLimiting._

/**
 * Controls how much each writer sends at a time and how long it pauses between two requests, as Hazelcast Jet's Kinesis sink does.
 *
 * The batch is what the destination's parts take in the shortest pause, shared by the open writers: between 10 entries and a full
 * request. The pause grows quickly when entries are throttled (ten steps) and shrinks slowly (one step a clean request): from
 * 100 ms to 10 s, on a geometric scale.
 */
final class BatchAndDelayRateLimiting(context: RateLimitingContext) extends RateLimitingStrategy {
  private var level = 0
  private var writers = 0

  /** The present pause, in milliseconds. */
  override def currentLimit: Double = synchronized(delayNanos(level) / 1e6)

  private def batchSize: Int = synchronized {
    val parts = context.partitions()
    if (parts <= 0) MinBatch
    else {
      val perPause = parts.toLong * context.entriesPerPartition * MinDelay.toMillis / 1000 / math.max(1, writers)
      math.max(math.min(MinBatch, context.maxBatchSize).toLong, math.min(perPause, context.maxBatchSize.toLong)).toInt
    }
  }

  override def open(): RateLimit = {
    synchronized(writers += 1)
    new RateLimit {
      private var nextAt = Long.MinValue
      private var closed = false

      override def maxBatchSize: Int = batchSize
      override def currentLimit: Double = BatchAndDelayRateLimiting.this.currentLimit

      override def acquire(wanted: Int, nowNanos: Long): Permit = BatchAndDelayRateLimiting.this.synchronized {
        if (nextAt != Long.MinValue && nowNanos - nextAt < 0) Permit.waitFor(nextAt - nowNanos)
        else {
          nextAt = nowNanos + delayNanos(level)
          Permit.grant(math.min(wanted, batchSize))
        }
      }

      override def settled(outcome: RequestOutcome, nowNanos: Long): Unit =
        BatchAndDelayRateLimiting.this.synchronized {
          if (outcome.throttled > 0) {
            level = math.min(Steps, level + StepsUp)
            nextAt = math.max(nextAt, nowNanos + delayNanos(level))
          } else if (outcome.sent > 0) level = math.max(0, level - 1)
        }

      override def close(): Unit = BatchAndDelayRateLimiting.this.synchronized {
        if (!closed) {
          closed = true
          writers -= 1
        }
      }
    }
  }
}

object BatchAndDelayRateLimiting {
  val MinBatch: Int = 10
  val MinDelay: FiniteDuration = 100.millis
  val MaxDelay: FiniteDuration = 10.seconds

  /** Steps from the shortest to the longest pause. */
  val Steps: Int = 100
  val StepsUp: Int = 10

  private def delayNanos(level: Int): Long =
    (MinDelay.toNanos * math.pow(MaxDelay / MinDelay, level.toDouble / Steps)).toLong
}
