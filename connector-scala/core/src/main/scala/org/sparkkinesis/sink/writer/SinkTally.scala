package org.sparkkinesis.sink.writer

import org.sparkkinesis.sink.SinkMetrics

/** The writer's own counts; guarded by its lock. */
final private[sink] class SinkTally {
  var blockedNanos = 0L
  var lateSuccesses = 0L
  var timedOutRequests = 0L
  private var counts = SinkMetrics()

  def started(entries: Int): Unit =
    counts = counts.copy(requests = counts.requests + 1, entriesSent = counts.entriesSent + entries)

  def add(judged: ResultHandler[_], sendNanos: Long): Unit = counts = counts.copy(
    entriesOut = counts.entriesOut + judged.acceptedEntries,
    bytesOut = counts.bytesOut + judged.acceptedBytes,
    throttled = counts.throttled + judged.throttledEntries,
    retried = counts.retried + judged.retriedEntries,
    possibleDuplicates = counts.possibleDuplicates + judged.possibleDuplicates,
    sendNanos = counts.sendNanos + sendNanos,
    restNanos = counts.restNanos + judged.restNanos
  )

  /** Entries in flight are given up, although the destination may store them. */
  def givenUp(entries: Int): Unit = counts = counts.copy(possibleDuplicates = counts.possibleDuplicates + entries)

  def toMetrics: SinkMetrics =
    counts.copy(blockedNanos = blockedNanos, lateSuccesses = lateSuccesses, timedOutRequests = timedOutRequests)
}
