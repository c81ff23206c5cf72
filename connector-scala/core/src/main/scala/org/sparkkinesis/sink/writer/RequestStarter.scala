package org.sparkkinesis.sink.writer

import org.sparkkinesis.sink.AsyncSinkSettings
import org.sparkkinesis.sink.limit.{CheckedRateLimit, RequestOutcome}

/**
 * Decides when the next request starts and what it carries, and sets the alarm for when that may change without an answer. Guarded
 * by the writer's lock.
 */
final private[sink] class RequestStarter[Entry](
    settings: AsyncSinkSettings,
    buffer: RequestBuffer[Entry],
    inFlight: InFlight[Entry],
    limit: CheckedRateLimit,
    alarm: Alarm
) {

  /**
   * The next request, which is under way from now on, or none.
   *
   * @param isEager
   *   whether somebody waits, so that no entry is to wait for others to share its request
   */
  def next(isEager: Boolean, now: Long): Option[Request[Entry]] = {
    buffer.advance(now)
    val mayStart = buffer.openEntries > 0 && inFlight.size < settings.maxInFlightRequests && (isEager || isTime(now))
    val request = if (mayStart) ask(now) else None
    if (request.isEmpty) setAlarm(now)
    request
  }

  /** Whether the entries that may be sent fill a request. */
  def batchIsFull: Boolean = {
    val size = math.min(settings.maxBatchSize, limit.maxBatchSize)
    buffer.openEntries >= size || buffer.openBytes >= settings.maxBatchBytes
  }

  def setAlarm(now: Long): Unit = {
    buffer.nextEventAt.foreach(alarm.setBy)
    buffer.oldestOpen.foreach { written =>
      // Past its time already: what holds it is a limit, and whatever lifts that limit wakes the writer.
      if (now - written < settings.maxTimeInBuffer.toNanos) alarm.setBy(written + settings.maxTimeInBuffer.toNanos)
    }
    inFlight.nextDeadline.foreach(alarm.setBy)
    oldest.foreach(entry => alarm.setBy(entry.writtenAt + settings.deliveryTimeout.toNanos))
  }

  /** The entry that was written first, of those that are not acknowledged and do not rest. */
  def oldest: Option[Pending[Entry]] = (buffer.oldest ++ inFlight.oldest).minByOption(_.ordinal)

  private def isTime(now: Long): Boolean = buffer.hasUrgent || batchIsFull ||
    buffer.oldestOpen.exists(now - _ >= settings.maxTimeInBuffer.toNanos)

  private def ask(now: Long): Option[Request[Entry]] = {
    val wanted = math.min(settings.maxBatchSize, buffer.sendableAtMost)
    val permit = limit.acquire(wanted, now, inFlight.size > 0)
    if (permit.entries > 0) start(permit.entries, wanted, now)
    else {
      if (permit.waitNanos != Long.MaxValue) alarm.setBy(now + permit.waitNanos)
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
