package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.sparkkinesis.sink.limit.BatchAndDelayRateLimiting._

/**
 * Limits the batch size of each writer and the pause between two requests, like Hazelcast Jet's Kinesis sink.
 *
 * The batch contains the entries that the open shards accept in the shortest pause, divided by the number of open
 * writers: at least 10 entries and at most a full request. The pause is from 100 ms to 10 s on a geometric scale. It
 * grows by ten steps when entries are throttled and shrinks by one step per successful request.
 */
final class BatchAndDelayRateLimiting(context: RateLimitingContext) extends RateLimitingStrategy {
  private var level = 0
  private var writers = 0

  /** The current pause in milliseconds. */
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

  /** Number of steps from the shortest to the longest pause. */
  val Steps: Int = 100
  val StepsUp: Int = 10

  private def delayNanos(level: Int): Long =
    (MinDelay.toNanos * math.pow(MaxDelay / MinDelay, level.toDouble / Steps)).toLong
}
