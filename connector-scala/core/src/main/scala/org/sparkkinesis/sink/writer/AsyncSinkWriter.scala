package org.sparkkinesis.sink.writer

import java.util.concurrent.locks.{Condition, Lock}

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.retry.Jitter
import org.sparkkinesis.sink.limit.{CheckedRateLimit, RateLimit}
import org.sparkkinesis.sink.{
  AsyncSinkSettings, DeliveryFailedException, DeliveryProgress, DestinationStalledException, OtherWriterFailedException,
  SinkBounds, SinkClosedException, SinkDestination, SinkException, SinkMetrics, Verdict
}

/**
 * Sends entries to a destination in asynchronous requests and tracks their acknowledgement.
 *
 * One thread calls `write`, `flush` and `close`. `write` blocks while the buffer is full, which applies back-pressure.
 * An entry counts as delivered only after `flush` has returned. After a failure every call throws it. The writer has no
 * thread: requests start on the calling thread, or on the threads of the destination's responses or of the timer.
 *
 * @param bounds
 *   limits that the writers of the task share
 * @param newCondition
 *   creates the condition on which the calling thread waits
 * @param delivery
 *   shared with the other writers to the destination in this process
 * @param report
 *   reports what lanes and rate limit have held back while the lock of the writer was held; called without that lock
 */
final class AsyncSinkWriter[Entry](
    destination: SinkDestination[Entry],
    rateLimit: RateLimit,
    settings: AsyncSinkSettings,
    bounds: SinkBounds,
    scheduler: Scheduler,
    random: () => Double = Jitter.random,
    newCondition: Lock => Condition = _.newCondition(),
    delivery: DeliveryProgress = new DeliveryProgress,
    report: () => Unit = () => ()
) extends AutoCloseable {
  private val progress = new WriterLock(newCondition)
  private val buffer = new RequestBuffer[Entry](destination.keepsKeysTogether)
  private val inFlight = new InFlight[Entry]
  private val limit = new CheckedRateLimit(rateLimit)
  private val tally = new SinkTally
  private val alarm = new Alarm(scheduler, () => tick())
  private val stall = new StallWatch(settings.stallTimeout, alarm)
  private val starter = new RequestStarter(settings, buffer, inFlight, limit, delivery, alarm)
  private var ordinals = 0L
  private var unacknowledged = 0
  private var unacknowledgedBytes = 0L
  private var waiting = false
  private var flushing = false
  private var closed = false
  private var failure: Option[SinkException] = None
  private var abandoned = Vector.empty[Pending[Entry]]

  import progress.{locked, unlocked}

  private val member = new SinkBounds.Member {
    override def hurry(): Unit = guarded(pump())
    override def wake(): Unit = locked(progress.signalAll())
  }
  bounds.join(member)

  /** Buffers one entry. Blocks while the buffer is full. */
  def write(entry: Entry): Unit = {
    val size = destination.sizeOf(entry)
    val key = destination.orderKey(entry)
    val lane = destination.lane(entry)
    val ready = locked {
      throwIfEnded()
      if (!bounds.tryTake(size)) {
        awaitRoom(size)
        bounds.take(size)
      }
      val now = scheduler.nanoTime
      ordinals += 1
      unacknowledged += 1
      unacknowledgedBytes += size
      buffer.add(new Pending(entry, size, key, lane, now, ordinals))
      alarm.setBy(now + settings.maxTimeInBuffer.toNanos)
      startsRequest(now)
    }
    if (ready) guarded(pump())
  }

  /**
   * Whether the calling thread starts a request after `write`. If no request may start, the next response starts it.
   */
  private def startsRequest(now: Long): Boolean =
    try starter.isReady(now)
    catch {
      case NonFatal(error) =>
        fail(error)
        throw SinkException.of(error)
    }

  /** Sends all buffered entries and returns when all are accepted. */
  def flush(): Unit = locked {
    flushing = true
    try awaitProgress(unacknowledged > 0)
    finally flushing = false
  }

  /**
   * Closes the writer, drops entries that are not flushed, and cancels the requests in flight. Returns when they have
   * ended, so that nothing of this writer reaches the destination after records that are written later. Waits a few
   * seconds at most. Later responses are ignored. Never throws; a second call has no effect.
   */
  override def close(): Unit = {
    abandon()
    awaitCancelled()
  }

  /** Does what `close` does without waiting. An owner of several writers calls it for all before it closes them. */
  def abandon(): Unit = cancel(locked(shut()))

  /** Starts no more requests, and returns those in flight. Holds the lock. */
  private def shut(): Seq[Request[Entry]] = {
    if (!closed) {
      closed = true
      alarm.cancel()
      limit.close()
      bounds.leave(member)
      bounds.release(unacknowledged, unacknowledgedBytes)
      progress.signalAll()
    }
    inFlight.all
  }

  private def cancel(requests: Seq[Request[Entry]]): Unit = {
    bounds.wakeBlocked(member)
    requests.foreach(_.cancel())
  }

  // A task that is killed is interrupted, and must wait as well.
  private def awaitCancelled(): Unit =
    progress.awaitUninterruptibly(scheduler, AsyncSinkWriter.LongestClose)(inFlight.size == 0)

  /**
   * Closes the writer and returns the entries without acknowledgement in the order of `write`, so that they can be
   * written elsewhere. Those in flight are not waited for: they may be stored nevertheless, unless cancelling shows at
   * once that their request was not sent.
   */
  def takeBack(): IndexedSeq[Entry] = {
    val (entries, requests) = locked {
      val wasOpen = !closed
      val waiting = if (wasOpen) (buffer.entries ++ abandoned).toVector else Vector.empty
      val sent = shut()
      val back = if (wasOpen) sent.flatMap(_.batch) ++ waiting else Nil
      (back.sortBy(_.ordinal).map(_.entry).toIndexedSeq, sent)
    }
    cancel(requests)
    if (entries.nonEmpty) locked(tally.givenUp(requests.iterator.map(_.storedAtMost).sum))
    failed.foreach(bounds.forgive)
    entries
  }

  /**
   * Fails the writer for a reason of its owner, which then takes the entries back. A call that blocks throws `reason`.
   * May be called from any thread.
   */
  def giveUp(reason: SinkException): Unit = {
    locked(if (!closed) fail(reason))
    bounds.wakeBlocked(member)
  }

  /**
   * The time in nanoseconds from which the destination has accepted and throttled nothing of this writer, although
   * requests were sent. May be called from any thread.
   */
  def silentSince: Option[Long] = locked(if (failure.isEmpty) stall.silentSince else None)

  /** The failure of the writer, if it has failed. May be called from any thread. */
  def failed: Option[SinkException] = locked(failure)

  /** Returns a consistent snapshot. May be called from any thread. */
  def metrics: SinkMetrics = locked {
    tally.toMetrics.copy(
      inFlightRequests = inFlight.size,
      inFlightEntries = unacknowledged - buffer.size,
      bufferedEntries = buffer.size,
      unacknowledgedBytes = unacknowledgedBytes,
      laneWaitNanos = buffer.pausedNanos,
      limitWaitNanos = starter.limitedNanos,
      currentLimit = limit.currentLimit,
      maxBatchSize = math.min(settings.maxBatchSize, limit.currentBatchSize)
    )
  }

  /** Waits for space and asks the other writers of the task to send their entries. Holds the lock on entry and exit. */
  private def awaitRoom(size: Int): Unit = {
    unlocked(bounds.blocks(member))
    try awaitProgress(bounds.failure.isEmpty && bounds.isFull(size))
    finally bounds.unblocks()
    bounds.failure.foreach(error => throw new OtherWriterFailedException(error))
  }

  /** Waits while `blocked` and starts requests meanwhile. Holds the lock on entry and exit. */
  private def awaitProgress(blocked: => Boolean): Unit = {
    throwIfEnded()
    if (blocked) {
      val since = scheduler.nanoTime
      waiting = true
      try
        while (blocked && failure.isEmpty && !closed) nextRequest() match {
          case Some(request) => unlocked(submit(request))
          case None => if (failure.isEmpty) progress.await()
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

  /** Returns the next request to start. An exception of the rate limiting strategy fails the writer. */
  private def nextRequest(): Option[Request[Entry]] =
    if (failure.isDefined || closed) None
    else
      try {
        val request = starter.next(waiting || flushing || bounds.isContended, scheduler.nanoTime)
        request.foreach { started =>
          tally.started(started.batch.size)
          stall.started(started.startedAt)
        }
        request
      } catch {
        case NonFatal(error) =>
          fail(error)
          None
      }

  private def submit(request: Request[Entry]): Unit = {
    val answer = Futures.attempt(destination.send(request.batch.map(_.entry)))
    answer.whenComplete { (verdicts, error) =>
      guarded {
        val act = locked(answered(request, request.verdicts(verdicts, error)))
        bounds.wakeBlocked(member)
        if (act) pump()
        report()
      }
    }
    request.started(answer)
  }

  /** @return whether the caller should start requests; a waiting writer thread is woken for it instead */
  private def answered(request: Request[Entry], verdicts: IndexedSeq[Verdict]): Boolean = {
    inFlight.remove(request)
    if (closed) {
      request.endedLate(verdicts)
      progress.signalAll()
      false
    } else {
      if (request.hasExpired) tally.lateSuccesses += verdicts.count(_ == Verdict.Accepted)
      settle(request, verdicts)
      wake()
    }
  }

  private def settle(request: Request[Entry], verdicts: IndexedSeq[Verdict]): Unit = {
    val now = scheduler.nanoTime
    if (verdicts.contains(Verdict.Accepted)) delivery.accepted(now)
    val judged = new ResultHandler[Entry](settings, delivery, request.startedAt, now, random())
    var i = 0
    while (i < verdicts.size) {
      judged.see(request.batch(i), verdicts(i))
      i += 1
    }
    val paced = judged.settleLanes()
    unacknowledged -= judged.acceptedEntries
    unacknowledgedBytes -= judged.acceptedBytes
    bounds.release(judged.acceptedEntries, judged.acceptedBytes)
    tally.add(judged, now - request.startedAt)
    val again = judged.toRetry
    again.foreach(entry => entry.lane = destination.lane(entry.entry))
    buffer.settle(request.batch, again)
    judged.failure.foreach { first =>
      abandoned ++= judged.abandoned
      fail(first)
    }
    stall.settled(judged.acceptedEntries + judged.throttledEntries > 0, inFlight.size == 0, now)
    // Called last, because the strategy may be a class of the user and may throw.
    limit.settled(judged.outcome(request, paced), now)
    starter.answered(now)
  }

  private def wake(): Boolean =
    if (waiting || failure.isDefined) {
      progress.signalAll()
      false
    } else true

  /** Runs on the timer's thread when something may be due. */
  private def tick(): Unit = guarded {
    val expired = locked {
      val now = scheduler.nanoTime
      alarm.rang(now)
      if (closed) Nil else expire(now)
    }
    expired.foreach { request =>
      destination.timedOut(request.batch.size, settings.requestTimeout)
      request.cancel()
    }
    if (locked(!closed && wake())) pump()
  }

  private def expire(now: Long): Seq[Request[Entry]] = {
    val expired = inFlight.expire(now)
    tally.timedOutRequests += expired.size
    stall.stalled(now).foreach(nanos => fail(new DestinationStalledException(nanos / 1000000)))
    stall.setAlarm()
    starter.oldest.foreach { entry =>
      val waited = now - delivery.since(entry.writtenAt)
      if (settings.isOverdue(waited))
        fail(new DeliveryFailedException(entry.attempts, waited / 1000000, entry.lastReason))
    }
    expired
  }

  /**
   * Runs `body` on a thread of another component, where an exception would be lost and the calling thread would wait
   * forever.
   */
  private def guarded(body: => Unit): Unit =
    try body
    catch {
      case error: Throwable =>
        locked(fail(error))
        if (!NonFatal(error)) throw error
    } finally if (bounds.failure.nonEmpty) bounds.wakeBlocked(member)

  private def fail(error: Throwable): Unit = {
    if (failure.isEmpty) {
      val first = SinkException.of(error)
      failure = Some(first)
      bounds.fail(first)
    }
    progress.signalAll()
  }
}

private object AsyncSinkWriter {

  /** Maximum time for which `close` waits for cancelled requests. Longer than the time to close a connection. */
  val LongestClose: FiniteDuration = 5.seconds
}
