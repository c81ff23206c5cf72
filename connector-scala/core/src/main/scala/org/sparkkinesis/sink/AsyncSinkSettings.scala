package org.sparkkinesis.sink

import scala.concurrent.duration._

import org.sparkkinesis.retry.RetryPolicy

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
 *   entries of all writers of a task that are not acknowledged yet, waiting or under way; `write` blocks at this number
 * @param maxBufferedBytes
 *   the same in bytes
 * @param requestTimeout
 *   after this time an unanswered request is cancelled, and its entries are sent again when the destination has ended it
 * @param deliveryTimeout
 *   from `write` to the acknowledgement; past it the writer fails
 * @param maxRetries
 *   how often one entry is sent again after failures; throttling does not count
 * @param backoff
 *   how long failed entries rest before they are sent again
 */
final case class AsyncSinkSettings(
    maxBatchSize: Int,
    maxBatchBytes: Long,
    maxTimeInBuffer: FiniteDuration,
    maxInFlightRequests: Int,
    maxBufferedEntries: Int,
    maxBufferedBytes: Long,
    requestTimeout: FiniteDuration,
    deliveryTimeout: FiniteDuration,
    maxRetries: Int,
    backoff: RetryPolicy
) {
  require(maxBatchSize > 0 && maxBatchBytes > 0, "a batch must hold something")
  require(maxInFlightRequests > 0 && maxBufferedEntries > 0 && maxBufferedBytes > 0, "nothing could ever be sent")

  /** New bounds, for the writers of one task. */
  def newBounds: SinkBounds = new SinkBounds(maxBufferedEntries, maxBufferedBytes)
}
