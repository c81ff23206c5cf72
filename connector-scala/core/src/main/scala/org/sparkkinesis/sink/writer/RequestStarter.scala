package org.sparkkinesis.sink.writer

import org.sparkkinesis.sink.limit.{CheckedRateLimit, RequestOutcome}
import org.sparkkinesis.sink.{AsyncSinkSettings, DeliveryProgress}

/**
 * Decides when the next request starts and what it contains, and sets the alarm for the next time at which that may
 * change without a response. Guarded by the writer's lock.
 */
final private[sink] class RequestStarter[Entry](
    settings: AsyncSinkSettings,
    buffer: RequestBuffer[Entry],
    inFlight: InFlight[Entry],
    limit: CheckedRateLimit,
    progress: DeliveryProgress,
    alarm: Alarm
) {

  /**
   * Starts and returns the next request, or returns `None` if none may start.
   *
   * @param isEager
   *   whether the writer's thread waits, so that entries do not wait for their request to fill
   */
  def next(isEager: Boolean, now: Long): Option[Request[Entry]] = {
    buffer.advance(now)
    batchSize = limitedBatchSize
    val mayStart = buffer.openEntries > 0 && inFlight.size < settings.maxInFlightRequests && (isEager || isTime(now))
    val request = if (mayStart) ask(now) else None
    if (request.isEmpty) setAlarm(now)
    request
  }

  /**
   * Whether a request may start now because of the entries in the buffer: they fill it, or they would only wait for
   * others although nothing is in flight. Cheap, because the writer asks after each entry.
   */
  def isReady(now: Long): Boolean = inFlight.size < settings.maxInFlightRequests && needsNoMore && !isHeld(now)

  /** Called after a response, which may change what the strategy allows. */
  def answered(now: Long): Unit = {
    refusedEntries = 0
    batchSize = limitedBatchSize
    setAlarm(now)
  }

  private var limitedSince = Option.empty[Long]

  /** Time during which the strategy held a request back. */
  var limitedNanos = 0L

  /**
   * The strategy refused a request of this size, and is asked again after `refusedUntil`, after a response, or for more
   * entries.
   */
  private var refusedEntries = 0
  private var refusedUntil = 0L

  /** What the strategy said after the last response, or before the next request; 0 before that. */
  private var batchSize = 0

  private def limitedBatchSize: Int = math.min(settings.maxBatchSize, limit.maxBatchSize)

  private def isHeld(now: Long): Boolean = refusedEntries > 0 && wanted <= refusedEntries &&
    (refusedUntil == Long.MaxValue || now - refusedUntil < 0)

  private def needsNoMore: Boolean = batchIsFull ||
    (settings.sendWhenIdle && inFlight.size == 0 && buffer.openEntries > 0)

  /** Whether the entries that may be sent fill a request. */
  private def batchIsFull: Boolean = {
    if (batchSize == 0) batchSize = limitedBatchSize
    buffer.openEntries >= batchSize || buffer.openBytes >= settings.maxBatchBytes
  }

  private def wanted: Int = math.min(settings.maxBatchSize, buffer.sendableAtMost)

  private def setAlarm(now: Long): Unit = {
    // An earlier alarm may have replaced that of the refusal.
    if (isHeld(now) && refusedUntil != Long.MaxValue) alarm.setBy(refusedUntil)
    buffer.nextEventAt.foreach(alarm.setBy)
    buffer.oldestOpen.foreach { written =>
      // After `maxTimeInBuffer` only a limit holds the entry, and whatever lifts the limit wakes the writer.
      if (now - written < settings.maxTimeInBuffer.toNanos) alarm.setBy(written + settings.maxTimeInBuffer.toNanos)
    }
    inFlight.nextDeadline.foreach(alarm.setBy)
    if (settings.deliveryTimeout.isFinite)
      oldest.foreach(entry => alarm.setBy(progress.since(entry.writtenAt) + settings.deliveryTimeout.toNanos))
  }

  /** The entry that was written first among the unacknowledged entries that are not in backoff. */
  def oldest: Option[Pending[Entry]] = (buffer.oldest ++ inFlight.oldest).minByOption(_.ordinal)

  private def isTime(now: Long): Boolean = buffer.hasUrgent || needsNoMore ||
    buffer.oldestOpen.exists(now - _ >= settings.maxTimeInBuffer.toNanos)

  private def ask(now: Long): Option[Request[Entry]] = if (isHeld(now)) None
  else {
    val size = wanted
    val permit = limit.acquire(size, now, inFlight.size > 0)
    if (permit.entries > 0) {
      refusedEntries = 0
      limitedSince.foreach(since => limitedNanos += now - since)
      limitedSince = None
      start(permit.entries, size, now)
    } else {
      if (limitedSince.isEmpty) limitedSince = Some(now)
      refusedEntries = size
      refusedUntil = if (permit.waitNanos == Long.MaxValue) Long.MaxValue else now + permit.waitNanos
      None
    }
  }

  private def start(granted: Int, wanted: Int, now: Long): Option[Request[Entry]] = {
    val batch = buffer.take(math.min(granted, wanted), settings.maxBatchBytes, now)
    if (batch.isEmpty) {
      limit.settled(RequestOutcome(granted, 0, 0, 0), now)
      None
    } else {
      val request = new Request(batch, granted, now, now + settings.requestTimeout.toNanos)
      inFlight.add(request)
      alarm.setBy(request.deadline)
      Some(request)
    }
  }
}
