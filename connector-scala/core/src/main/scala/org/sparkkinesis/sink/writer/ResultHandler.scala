package org.sparkkinesis.sink.writer

import scala.collection.mutable

import org.sparkkinesis.sink.limit.{Lane, RequestOutcome}
import org.sparkkinesis.sink.{
  AsyncSinkSettings, DeliveryFailedException, DeliveryProgress, RetryCause, SinkException, Verdict
}

/**
 * Sorts the entries of a request by their verdicts: accepted entries, entries to retry with their time, and a failure
 * of the writer.
 */
final private[sink] class ResultHandler[Entry](
    settings: AsyncSinkSettings,
    progress: DeliveryProgress,
    sentAt: Long,
    now: Long,
    random: Double
) {
  private val lanes = new java.util.IdentityHashMap[Lane, Array[Int]]
  private var lastLane: Lane = null
  private var lastCounts: Array[Int] = null
  private val again = mutable.ArrayBuffer.empty[Pending[Entry]]
  var failure: Option[SinkException] = None

  /** The entries that caused the failure, which are neither accepted nor retried. */
  val abandoned = mutable.ArrayBuffer.empty[Pending[Entry]]
  var acceptedEntries = 0
  var acceptedBytes = 0L
  var throttledEntries = 0
  var failedEntries = 0
  var possibleDuplicates = 0
  var retriedEntries = 0
  var restNanos = 0L

  /** The entries to retry, in the order of the request. */
  def toRetry: IndexedSeq[Pending[Entry]] = again.toIndexedSeq

  def see(entry: Pending[Entry], verdict: Verdict): Unit = verdict match {
    case Verdict.Accepted =>
      acceptedEntries += 1
      acceptedBytes += entry.size
      laneCounts(entry.lane)(0) += 1
    case Verdict.Retry(RetryCause.NotSent, _) =>
      entry.restsUntil = now
      again += entry
    case Verdict.Retry(cause, reason) =>
      entry.attempts += 1
      entry.lastReason = reason
      count(entry, cause)
      retry(entry, cause, reason)
    case Verdict.Fatal(error) =>
      failedEntries += 1
      abandoned += entry
      fail(SinkException.of(error))
  }

  /** Reports the results to each lane, and returns the number of throttled entries that a lane handles. */
  def settleLanes(): Int = {
    var paced = 0
    lanes.forEach((lane, counts) => if (lane.settled(counts(0), counts(1), sentAt, now)) paced += counts(1))
    paced
  }

  def outcome(request: Request[Entry], paced: Int): RequestOutcome =
    RequestOutcome(request.granted, request.batch.size, throttledEntries, failedEntries, paced, request.startedAt)

  private def count(entry: Pending[Entry], cause: RetryCause): Unit = cause match {
    case RetryCause.Throttled =>
      throttledEntries += 1
      laneCounts(entry.lane)(1) += 1
    case RetryCause.Unanswered =>
      entry.failures += 1
      failedEntries += 1
      possibleDuplicates += 1
    case RetryCause.Misplaced => possibleDuplicates += 1
    case RetryCause.Failed =>
      entry.failures += 1
      failedEntries += 1
    case RetryCause.NotSent => ()
  }

  private def retry(entry: Pending[Entry], cause: RetryCause, reason: String): Unit = {
    val waited = now - progress.since(entry.writtenAt)
    val spent = settings.isOverdue(waited) ||
      failing(cause) && entry.failures > settings.maxRetries
    if (spent) {
      abandoned += entry
      fail(new DeliveryFailedException(entry.attempts, waited / 1000000, reason))
    } else {
      val rest = settings.backoff.longPause(entry.attempts, random).toNanos
      restNanos = math.max(restNanos, rest)
      entry.restsUntil = now + rest
      retriedEntries += 1
      again += entry
    }
  }

  private def failing(cause: RetryCause): Boolean = cause == RetryCause.Failed || cause == RetryCause.Unanswered

  private def fail(error: SinkException): Unit = if (failure.isEmpty) failure = Some(error)

  private def laneCounts(lane: Lane): Array[Int] = {
    if (lane ne lastLane) {
      lastLane = lane
      lastCounts = lanes.computeIfAbsent(lane, _ => new Array[Int](2))
    }
    lastCounts
  }
}
