package org.sparkkinesis.sink

/**
 * What one writer has done so far, and how it stands. Counts only grow; the last five are the present state.
 *
 * @param entriesOut
 *   acknowledged entries; one that was sent three times counts once
 * @param entriesSent
 *   entries in requests, repetitions included
 * @param possibleDuplicates
 *   entries sent again though an earlier attempt may have been stored
 * @param lateSuccesses
 *   entries accepted by an answer that came after its request had timed out
 * @param sendNanos
 *   time from request to answer, summed over requests
 * @param restNanos
 *   back-off ordered for failed entries, summed over requests with failures
 * @param blockedNanos
 *   time that `write` and `flush` waited
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
    inFlightRequests: Int = 0,
    inFlightEntries: Int = 0,
    bufferedEntries: Int = 0,
    unacknowledgedBytes: Long = 0,
    currentLimit: Double = 0
) {

  /** Of several writers together; the greatest limit of them. */
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
    inFlightRequests + other.inFlightRequests,
    inFlightEntries + other.inFlightEntries,
    bufferedEntries + other.bufferedEntries,
    unacknowledgedBytes + other.unacknowledgedBytes,
    math.max(currentLimit, other.currentLimit)
  )

  /** What was done between this picture and a later one of the same writers; counts only. */
  def until(later: SinkMetrics): SinkMetrics = later.copy(
    entriesOut = later.entriesOut - entriesOut,
    bytesOut = later.bytesOut - bytesOut,
    requests = later.requests - requests,
    entriesSent = later.entriesSent - entriesSent,
    throttled = later.throttled - throttled,
    retried = later.retried - retried
  )

  def meanBatchSize: Double = if (requests == 0) 0 else entriesSent.toDouble / requests
}
