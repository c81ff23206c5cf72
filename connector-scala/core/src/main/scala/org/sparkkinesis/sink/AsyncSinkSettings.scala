package org.sparkkinesis.sink

import scala.concurrent.duration._

import org.sparkkinesis.config.{ConfigEntry, NetworkOptions, Options, WriteOptions}
import org.sparkkinesis.retry.RetryPolicy

/**
 * Settings of an [[AsyncSinkWriter]]: batching, limits and retries.
 *
 * @param maxBatchSize
 *   maximum number of entries per request
 * @param maxBatchBytes
 *   maximum number of bytes per request, as the destination counts them
 * @param maxTimeInBuffer
 *   maximum time that an entry waits for its request to fill
 * @param sendWhenIdle
 *   whether an entry does not wait for its request to fill while the writer has no request in flight
 * @param maxInFlightRequests
 *   maximum number of requests without a response per writer, which is that of a task to one stream
 * @param maxBufferedEntries
 *   maximum number of unacknowledged entries, buffered or in flight, of all writers of a task; at this number `write`
 *   blocks
 * @param maxBufferedBytes
 *   maximum number of bytes of unacknowledged entries of all writers of a task
 * @param requestTimeout
 *   time after which a request is cancelled; its entries are sent again when the destination has ended it
 * @param deliveryTimeout
 *   maximum time for which an entry waits while the destination accepts no entry at all, after which the writer fails;
 *   may be infinite
 * @param maxRetries
 *   maximum number of retries of an entry after failures; throttling does not count
 * @param backoff
 *   pause before a failed entry is sent again
 * @param stallTimeout
 *   time after which the writer fails if the destination has accepted or throttled nothing, for an owner that then
 *   writes to another destination; infinite for an owner with one destination
 */
final case class AsyncSinkSettings(
    maxBatchSize: Int,
    maxBatchBytes: Long,
    maxTimeInBuffer: FiniteDuration,
    sendWhenIdle: Boolean,
    maxInFlightRequests: Int,
    maxBufferedEntries: Int,
    maxBufferedBytes: Long,
    requestTimeout: FiniteDuration,
    deliveryTimeout: Duration,
    maxRetries: Int,
    backoff: RetryPolicy,
    stallTimeout: Duration
) {
  require(
    maxBatchSize > 0 && maxBatchBytes > 0,
    s"maxBatchSize and maxBatchBytes must be positive, were $maxBatchSize and $maxBatchBytes"
  )
  require(
    maxInFlightRequests > 0 && maxBufferedEntries > 0 && maxBufferedBytes > 0,
    "the limits of in-flight requests and of buffered entries and bytes must be positive"
  )

  /** Whether an entry that has waited this long without [[DeliveryProgress]] has exceeded the delivery timeout. */
  def isOverdue(waitedNanos: Long): Boolean = deliveryTimeout.isFinite && waitedNanos >= deliveryTimeout.toNanos

  /** Creates the limits that the writers of one task share. */
  def newBounds: SinkBounds = new SinkBounds(maxBufferedEntries, maxBufferedBytes)
}

object AsyncSinkSettings {

  /**
   * Reads the settings.
   *
   * @param maxBatchBytes
   *   the option for the bytes of a request, whose default differs between services
   * @param retries
   *   retries of the operation that writes
   */
  def of(options: Options, maxBatchBytes: ConfigEntry[Long], retries: RetryPolicy): AsyncSinkSettings =
    AsyncSinkSettings(
      maxBatchSize = options(WriteOptions.maxBatchSize).toInt,
      maxBatchBytes = options(maxBatchBytes),
      maxTimeInBuffer = options(WriteOptions.maxTimeInBuffer),
      sendWhenIdle = options(WriteOptions.sendWhenIdle),
      maxInFlightRequests = options(WriteOptions.maxInFlightRequests).toInt,
      maxBufferedEntries = options(WriteOptions.maxBufferedRecords).toInt,
      maxBufferedBytes = options(WriteOptions.maxBufferedBytes),
      requestTimeout = options(NetworkOptions.requestTimeout),
      deliveryTimeout = options(WriteOptions.deliveryTimeout),
      maxRetries = retries.maxRetries.getOrElse(Int.MaxValue),
      backoff = retries,
      stallTimeout = Duration.Inf
    )
}
