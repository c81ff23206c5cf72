package org.sparkkinesis.sink

import scala.concurrent.duration._

/**
 * How an [[AsyncSinkWriter]] batches, bounds and retries.
 *
 * @param maxBatchSize
 *   entries of one request
 * @param maxBatchBytes
 *   bytes of one request, as the destination counts them
 * @param maxTimeInBuffer
 *   an entry that may be sent waits no longer than this for others to share its request
 * @param maxInFlightRequests
 *   requests without an answer, for one writer
 * @param maxBufferedEntries
 *   entries that are not acknowledged yet, waiting or under way; `write` blocks at this number
 * @param maxBufferedBytes
 *   the same in bytes
 * @param requestTimeout
 *   after this time an unanswered request counts as failed
 * @param deliveryTimeout
 *   from `write` to the acknowledgement; past it the writer fails
 * @param maxRetries
 *   how often one entry is sent again; throttling does not count
 */
final case class AsyncSinkSettings(
    maxBatchSize: Int = 500,
    maxBatchBytes: Long = 10L * 1024 * 1024,
    maxTimeInBuffer: FiniteDuration = 1.second,
    maxInFlightRequests: Int = 50,
    maxBufferedEntries: Int = 10000,
    maxBufferedBytes: Long = 64L * 1024 * 1024,
    requestTimeout: FiniteDuration = 30.seconds,
    deliveryTimeout: FiniteDuration = 10.minutes,
    maxRetries: Int = Int.MaxValue,
    backoff: Backoff = Backoff()
) {
  require(maxBatchSize > 0 && maxBatchBytes > 0, "a batch must hold something")
  require(maxInFlightRequests > 0 && maxBufferedEntries > 0 && maxBufferedBytes > 0, "nothing could ever be sent")
}

/**
 * How long failed entries rest before they are sent again: exponential, with jitter over its upper half, so that they neither
 * spin nor come back all at once.
 */
final case class Backoff(base: FiniteDuration = 50.millis, max: FiniteDuration = 5.seconds) {

  /**
   * @param attempt
   *   1 after the first failure
   * @param random
   *   in [0, 1)
   */
  def delayNanos(attempt: Int, random: Double): Long = {
    val ceiling = math.min(max.toNanos.toDouble, base.toNanos * math.pow(2, math.min(attempt - 1, 40).toDouble))
    (ceiling * (0.5 + random / 2)).toLong
  }
}
