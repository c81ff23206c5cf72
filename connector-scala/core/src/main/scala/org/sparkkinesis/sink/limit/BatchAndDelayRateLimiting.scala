package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.sparkkinesis.sink.limit.BatchAndDelayRateLimiting._

/**
 * Limits the size of requests and pauses between the requests of a writer, like Hazelcast Jet's Kinesis sink.
 *
 * Until the first throttling there is neither limit nor pause. From then on, a request contains the entries that the
 * open shards accept in the shortest pause, divided by the number of writers in all executors: at least 10 entries and
 * at most a full request. The pause begins with the shortest one, is multiplied by a factor while entries are
 * throttled, and then decreases so that the rate grows by the same amount per second. After a time without throttling,
 * limit and pause end.
 */
final class BatchAndDelayRateLimiting(context: RateLimitingContext) extends RateLimitingStrategy {
  private val parameters = context.parameters.batchAndDelay
  private val least = parameters.minDelay / parameters.longestDelay

  /** The rate of requests as a multiple of one request per shortest pause; infinite without a pause. */
  private var rate = Double.PositiveInfinity
  private var writers = 0
  private var throttledAt = 0L
  private var slowedAt = 0L
  private var grownAt = 0L

  /** The current pause in milliseconds. */
  override def currentLimit: Double = synchronized(pauseNanos / 1e6)

  private def pauseNanos: Long = (parameters.minDelay.toNanos / rate).toLong

  private def batchSize: Int = synchronized {
    val parts = context.partitions()
    if (rate.isPosInfinity) context.maxBatchSize
    else if (parts <= 0) math.min(MinBatch, context.maxBatchSize)
    else {
      val senders = math.max(1, math.max(writers, context.senders()))
      val perPause = parts.toLong * context.entriesPerPartition * parameters.minDelay.toMillis / 1000 / senders
      math.max(math.min(MinBatch, context.maxBatchSize).toLong, math.min(perPause, context.maxBatchSize.toLong)).toInt
    }
  }

  private def throttled(sentAtNanos: Long, nowNanos: Long): Unit = {
    throttledAt = nowNanos
    grownAt = nowNanos
    if (rate.isPosInfinity) {
      rate = 1
      slowedAt = nowNanos
    } else if (sentAtNanos - slowedAt >= 0) {
      // Entries that were sent before the pause grew say nothing about the present pause.
      rate = math.max(least, rate / parameters.growth)
      slowedAt = nowNanos
    }
  }

  private def accepted(nowNanos: Long): Unit = if (!rate.isPosInfinity) {
    if (nowNanos - throttledAt >= parameters.quietTime.toNanos) rate = Double.PositiveInfinity
    else rate += parameters.recovery * math.min(nowNanos - grownAt, LongestStep.toNanos) / 1e9
    grownAt = nowNanos
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
          nextAt = nowNanos + pauseNanos
          Permit.grant(math.min(wanted, batchSize))
        }
      }

      override def settled(outcome: RequestOutcome, nowNanos: Long): Unit =
        BatchAndDelayRateLimiting.this.synchronized {
          if (outcome.throttled > 0) {
            throttled(outcome.sentAtNanos, nowNanos)
            nextAt = math.max(nextAt, nowNanos + pauseNanos)
          } else if (outcome.sent > 0) accepted(nowNanos)
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

  /** Time without an answer does not increase the rate. */
  val LongestStep: FiniteDuration = 250.millis

  /**
   * @param minDelay
   *   the first pause, and the time whose capacity a request contains
   * @param growth
   *   factor of the pause when entries are throttled
   * @param recovery
   *   increase of the rate per second, as a part of the rate with the first pause
   * @param quietTime
   *   time without throttling after which there is no pause
   */
  final case class Parameters(
      minDelay: FiniteDuration,
      maxDelay: FiniteDuration,
      growth: Double,
      recovery: Double,
      quietTime: FiniteDuration
  ) {
    def longestDelay: FiniteDuration = maxDelay.max(minDelay)
  }
}
