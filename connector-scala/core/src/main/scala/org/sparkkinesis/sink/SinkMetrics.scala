package org.sparkkinesis.sink

/**
 * Counters and current state of one writer. Counters only grow; the last six values are the current state. The writer
 * counts in its own fields and not from events, so that all values belong to one moment (decision 0023).
 *
 * @param entriesOut
 *   acknowledged entries, each counted once
 * @param entriesSent
 *   entries in requests, including repetitions
 * @param possibleDuplicates
 *   entries that were sent again although an earlier attempt may have been stored. An attempt that was not sent as a
 *   whole, or that the destination has refused, does not count.
 * @param lateSuccesses
 *   entries accepted by a response after the timeout of its request
 * @param sendNanos
 *   time from request to response, summed over requests
 * @param restNanos
 *   backoff of failed entries, summed over requests with failures
 * @param blockedNanos
 *   time that `write` and `flush` waited
 * @param laneWaitNanos
 *   time during which at least one lane at its limit held entries back
 * @param limitWaitNanos
 *   time during which the rate limiting strategy held a request back
 * @param maxBatchSize
 *   maximum number of entries per request that the strategy allows now
 */
final case class SinkMetrics(
    entriesOut: Long = 0,
    bytesOut: Long = 0,
    requests: Long = 0,
    entriesSent: Long = 0,
    throttled: Long = 0,
    retried: Long = 0,
    timedOutRequests: Long = 0,
    possibleDuplicates: Long = 0,
    lateSuccesses: Long = 0,
    sendNanos: Long = 0,
    restNanos: Long = 0,
    blockedNanos: Long = 0,
    laneWaitNanos: Long = 0,
    limitWaitNanos: Long = 0,
    inFlightRequests: Int = 0,
    inFlightEntries: Int = 0,
    bufferedEntries: Int = 0,
    unacknowledgedBytes: Long = 0,
    currentLimit: Double = 0,
    maxBatchSize: Int = 0
) {

  /** Sums the metrics of several writers; the limit and the batch size are the largest ones. */
  def +(other: SinkMetrics): SinkMetrics = SinkMetrics(
    entriesOut + other.entriesOut,
    bytesOut + other.bytesOut,
    requests + other.requests,
    entriesSent + other.entriesSent,
    throttled + other.throttled,
    retried + other.retried,
    timedOutRequests + other.timedOutRequests,
    possibleDuplicates + other.possibleDuplicates,
    lateSuccesses + other.lateSuccesses,
    sendNanos + other.sendNanos,
    restNanos + other.restNanos,
    blockedNanos + other.blockedNanos,
    laneWaitNanos + other.laneWaitNanos,
    limitWaitNanos + other.limitWaitNanos,
    inFlightRequests + other.inFlightRequests,
    inFlightEntries + other.inFlightEntries,
    bufferedEntries + other.bufferedEntries,
    unacknowledgedBytes + other.unacknowledgedBytes,
    math.max(currentLimit, other.currentLimit),
    math.max(maxBatchSize, other.maxBatchSize)
  )

  /** Counters between this snapshot and a later one of the same writers. */
  def until(later: SinkMetrics): SinkMetrics = later.copy(
    entriesOut = later.entriesOut - entriesOut,
    bytesOut = later.bytesOut - bytesOut,
    requests = later.requests - requests,
    entriesSent = later.entriesSent - entriesSent,
    throttled = later.throttled - throttled,
    retried = later.retried - retried
  )

  /** Metrics of a closed writer: its counters without its current state. */
  def ended: SinkMetrics = copy(
    inFlightRequests = 0,
    inFlightEntries = 0,
    bufferedEntries = 0,
    unacknowledgedBytes = 0,
    currentLimit = 0,
    maxBatchSize = 0
  )

  def meanBatchSize: Double = if (requests == 0) 0 else entriesSent.toDouble / requests
}
