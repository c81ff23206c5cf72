package org.sparkkinesis.sink

import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture
import java.util.concurrent.locks.ReentrantLock

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.retry.Jitter
import org.sparkkinesis.sink.limit.{RateLimit, RequestOutcome}

/**
 * Sends what is written to a destination in asynchronous requests, and knows when all of it has arrived.
 *
 * One thread calls `write`, `flush` and `close`. `write` blocks while the buffer is full: that is the back-pressure. Nothing counts
 * as delivered before `flush` has returned; a failure, once it happened, is thrown by every later call. The writer has no thread:
 * requests start on the writing thread while it is here, else on those of the destination's answers or of the timer.
 */
final class AsyncSinkWriter[Input, Entry](
    converter: ElementConverter[Input, Entry],
    destination: SinkDestination[Entry],
    rateLimit: RateLimit,
    settings: AsyncSinkSettings,
    scheduler: Scheduler,
    random: () => Double = Jitter.random
) extends AutoCloseable {
  private type P = Pending[Entry]

  private val lock = new ReentrantLock
  private val progress = lock.newCondition()
  private val buffer = new RequestBuffer[Entry](destination.keepsKeysTogether)
  private val inFlight = new ArrayDeque[Request]
  private val tally = new SinkTally
  private val alarm = new Alarm(scheduler, () => tick())
  private var ordinals = 0L
  private var unacknowledged = 0
  private var unacknowledgedBytes = 0L
  private var waiting = false
  private var flushing = false
  private var closed = false
  private var failure: Option[SinkException] = None

  /** One request under way; `open` until its answer or its timeout, whichever is first. */
  final private class Request(val batch: IndexedSeq[P], val granted: Int, val startedAt: Long) {
    var open = true
    def deadline: Long = startedAt + settings.requestTimeout.toNanos
  }

  /** Takes one element; returns once it is buffered. */
  def write(input: Input): Unit = {
    val entry = converter.convert(input)
    val size = destination.sizeOf(entry)
    val key = destination.orderKey(entry)
    val lane = destination.lane(entry)
    val full = locked {
      awaitProgress(isFull(size))
      val now = scheduler.nanoTime
      ordinals += 1
      unacknowledged += 1
      unacknowledgedBytes += size
      buffer.add(new Pending(entry, size, key, lane, now, ordinals))
      alarm.setBy(now + settings.maxTimeInBuffer.toNanos)
      // While no request may start, its answer will see to it.
      inFlight.size < settings.maxInFlightRequests && batchIsFull
    }
    if (full) pump()
  }

  /** Sends everything that was written and returns when all of it is accepted. */
  def flush(): Unit = locked {
    flushing = true
    try awaitProgress(unacknowledged > 0)
    finally flushing = false
  }

  /** Ends the writer; what is not flushed is given up. Answers that still come are only counted. Never throws, may be repeated. */
  override def close(): Unit = locked {
    if (!closed) {
      closed = true
      alarm.cancel()
      rateLimit.close()
      progress.signalAll()
    }
  }

  /** A consistent picture, from any thread. */
  def metrics: SinkMetrics = locked {
    tally.toMetrics.copy(
      inFlightRequests = inFlight.size,
      inFlightEntries = unacknowledged - buffer.size,
      bufferedEntries = buffer.size,
      unacknowledgedBytes = unacknowledgedBytes,
      currentLimit = rateLimit.currentLimit
    )
  }

  /** Holds the calling thread while `blocked`; meanwhile it starts what requests it can. Holds the lock on entry and exit. */
  private def awaitProgress(blocked: => Boolean): Unit = {
    throwIfEnded()
    if (blocked) {
      val since = scheduler.nanoTime
      waiting = true
      try
        while (blocked && failure.isEmpty && !closed) nextRequest() match {
          case Some(request) =>
            lock.unlock()
            try submit(request)
            finally lock.lock()
          case None => progress.await()
        }
      finally {
        waiting = false
        tally.blockedNanos += scheduler.nanoTime - since
      }
      throwIfEnded()
    }
  }

  private def throwIfEnded(): Unit = {
    failure.foreach(throw _)
    if (closed) throw new SinkClosedException
  }

  @tailrec
  private def pump(): Unit = locked(nextRequest()) match {
    case Some(request) =>
      submit(request)
      pump()
    case None => ()
  }

  private def isFull(size: Int): Boolean = unacknowledged >= settings.maxBufferedEntries ||
    unacknowledged > 0 && unacknowledgedBytes + size > settings.maxBufferedBytes

  private def batchIsFull: Boolean = {
    val size = math.min(settings.maxBatchSize, rateLimit.maxBatchSize)
    buffer.openEntries >= size || buffer.openBytes >= settings.maxBatchBytes
  }

  /** The next request to start, or none, with the alarm set for when that may change without an answer. */
  private def nextRequest(): Option[Request] = {
    val now = scheduler.nanoTime
    buffer.advance(now)
    val request =
      if (
        failure.isDefined || closed || buffer.openEntries == 0 || inFlight.size >= settings.maxInFlightRequests ||
        !isTime(now)
      ) None
      else {
        val permit = rateLimit.acquire(math.min(settings.maxBatchSize, buffer.sendableAtMost), now)
        if (permit.entries > 0) start(permit.entries, now)
        else {
          if (permit.waitNanos != Long.MaxValue) alarm.setBy(now + permit.waitNanos)
          None
        }
      }
    if (request.isEmpty && !closed) setAlarm(now)
    request
  }

  private def isTime(now: Long): Boolean = waiting || flushing || buffer.hasUrgent || batchIsFull ||
    buffer.oldestOpen.exists(now - _ >= settings.maxTimeInBuffer.toNanos)

  private def start(granted: Int, now: Long): Option[Request] = {
    val batch = buffer.take(granted, settings.maxBatchBytes, now)
    if (batch.isEmpty) {
      rateLimit.settled(RequestOutcome(granted, 0, 0, 0), now)
      None
    } else {
      val request = new Request(batch, granted, now)
      inFlight.addLast(request)
      tally.started(batch.size)
      alarm.setBy(request.deadline)
      Some(request)
    }
  }

  private def setAlarm(now: Long): Unit = {
    buffer.nextEventAt.foreach(alarm.setBy)
    buffer.oldestOpen.foreach { written =>
      // Past its time already: what holds it is a limit, and whatever lifts that limit wakes the writer.
      if (now - written < settings.maxTimeInBuffer.toNanos) alarm.setBy(written + settings.maxTimeInBuffer.toNanos)
    }
    Option(inFlight.peekFirst()).foreach(request => alarm.setBy(request.deadline))
    buffer.oldest.foreach(entry => alarm.setBy(entry.writtenAt + settings.deliveryTimeout.toNanos))
  }

  private def submit(request: Request): Unit = {
    val answer =
      try destination.send(request.batch.map(_.entry))
      catch { case NonFatal(error) => CompletableFuture.failedFuture[IndexedSeq[Verdict]](error) }
    answer.whenComplete { (verdicts, error) =>
      val judged =
        if (error != null) Left(error)
        else if (verdicts.size == request.batch.size) Right(verdicts)
        else Left(new IllegalStateException(
          s"the destination answered ${verdicts.size} verdicts for ${request.batch.size} entries"
        ))
      if (locked(answered(request, judged))) pump()
    }
    ()
  }

  /** @return whether the caller should pump; a waiting writer thread is woken for it instead */
  private def answered(request: Request, answer: Either[Throwable, IndexedSeq[Verdict]]): Boolean = {
    val verdicts = answer.fold(error => request.batch.map(_ => Verdict.Fatal(error)), identity)
    if (!request.open || closed) {
      if (!request.open) tally.lateSuccesses += verdicts.count(_ == Verdict.Accepted)
      false
    } else {
      request.open = false
      inFlight.remove(request)
      settle(request, verdicts)
      wake()
    }
  }

  private def settle(request: Request, verdicts: IndexedSeq[Verdict]): Unit = {
    val now = scheduler.nanoTime
    val judged = new ResultHandler[Entry](settings, request.startedAt, now, random())
    var i = 0
    while (i < verdicts.size) {
      judged.see(request.batch(i), verdicts(i))
      i += 1
    }
    val throttled = judged.settleLanes()
    rateLimit.settled(RequestOutcome(request.granted, request.batch.size, throttled, judged.failedEntries), now)
    unacknowledged -= judged.acceptedEntries
    unacknowledgedBytes -= judged.acceptedBytes
    tally.add(judged, now - request.startedAt)
    buffer.settle(request.batch, judged.toRetry)
    if (failure.isEmpty) failure = judged.failure
    setAlarm(now)
  }

  private def wake(): Boolean =
    if (waiting || failure.isDefined) {
      progress.signalAll()
      false
    } else true

  /** On the timer's thread: something may be due. */
  private def tick(): Unit = {
    val (act, expired) = locked {
      val now = scheduler.nanoTime
      alarm.rang(now)
      val requests = if (closed) Nil else expire(now)
      (!closed && wake(), requests)
    }
    expired.foreach(destination.timedOut(_, settings.requestTimeout))
    if (act) pump()
  }

  /** The numbers of entries of the requests that have timed out. */
  private def expire(now: Long): Seq[Int] = {
    val expired = Seq.newBuilder[Int]
    while (!inFlight.isEmpty && inFlight.peekFirst().deadline - now <= 0) {
      val request = inFlight.removeFirst()
      request.open = false
      tally.timedOutRequests += 1
      expired += request.batch.size
      settle(
        request,
        request.batch.map(_ => Verdict.Retry(RetryCause.Unanswered, s"no answer within ${settings.requestTimeout}"))
      )
    }
    buffer.oldest.filter(now - _.writtenAt >= settings.deliveryTimeout.toNanos).foreach { entry =>
      if (failure.isEmpty)
        failure = Some(new DeliveryFailedException(entry.attempts, (now - entry.writtenAt) / 1000000, ""))
    }
    expired.result()
  }

  private def locked[A](body: => A): A = {
    lock.lock()
    try body
    finally lock.unlock()
  }
}
