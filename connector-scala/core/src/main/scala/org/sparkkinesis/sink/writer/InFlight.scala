package org.sparkkinesis.sink.writer

import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture

import scala.jdk.CollectionConverters._

import org.sparkkinesis.sink.{RetryCause, Verdict}

/**
 * One request in flight.
 *
 * @param granted
 *   number of entries that the permit allowed
 */
final private[sink] class Request[Entry](
    val batch: IndexedSeq[Pending[Entry]],
    val granted: Int,
    val startedAt: Long,
    val deadline: Long
) {
  private var answer: CompletableFuture[_] = null
  private var expired = false
  private var cancelled = false
  private var ended = Option.empty[IndexedSeq[Verdict]]

  /** The entry that was written first. */
  val oldest: Pending[Entry] = {
    var first = batch.head
    var i = 1
    while (i < batch.size) {
      if (batch(i).ordinal < first.ordinal) first = batch(i)
      i += 1
    }
    first
  }

  def hasExpired: Boolean = synchronized(expired)

  private def wasEnded: Boolean = synchronized(expired || cancelled)

  /** Called with the future that `send` returned. Cancels it if the request has expired or was cancelled meanwhile. */
  def started(future: CompletableFuture[_]): Unit = {
    val late = synchronized {
      answer = future
      expired || cancelled
    }
    if (late) future.cancel(true)
  }

  def expire(): Unit = synchronized { expired = true }

  /** The request has ended after its writer was closed. */
  def endedLate(verdicts: IndexedSeq[Verdict]): Unit = synchronized { ended = Some(verdicts) }

  /** Number of entries that the destination may have stored, as far as that is known now. */
  def storedAtMost: Int = synchronized(ended.fold(batch.size)(_.count(_.mayBeStored)))

  /** Returns the verdict of each entry. A cancelled request may have arrived; every other failed future is fatal. */
  def verdicts(answer: IndexedSeq[Verdict], error: Throwable): IndexedSeq[Verdict] =
    if (error != null) {
      if (wasEnded)
        all(Verdict.Retry(RetryCause.Unanswered, s"no response within ${(deadline - startedAt) / 1000000} ms"))
      else all(Verdict.Fatal(error))
    } else if (answer != null && answer.size == batch.size) answer
    else {
      val found = if (answer == null) "no" else answer.size.toString
      val text = s"the destination returned $found verdicts for ${batch.size} entries"
      all(Verdict.Fatal(new IllegalStateException(text)))
    }

  private def all(verdict: Verdict): IndexedSeq[Verdict] = batch.map(_ => verdict)

  /**
   * Cancels the future of the request. Must be called without the writer's lock, because the future may complete within
   * the call.
   */
  def cancel(): Unit = {
    val future = synchronized {
      cancelled = true
      answer
    }
    if (future != null) future.cancel(true)
    ()
  }
}

/** The requests without a response, in the order of their deadlines. Guarded by the writer's lock. */
final private[sink] class InFlight[Entry] {
  private val waiting = new ArrayDeque[Request[Entry]]
  private val cancelled = new ArrayDeque[Request[Entry]]

  def size: Int = waiting.size + cancelled.size

  def all: Seq[Request[Entry]] = (waiting.iterator.asScala ++ cancelled.iterator.asScala).toVector

  def add(request: Request[Entry]): Unit = waiting.addLast(request)

  def remove(request: Request[Entry]): Unit = if (!waiting.remove(request)) {
    cancelled.remove(request)
    ()
  }

  /** Deadline of the next request to expire. */
  def nextDeadline: Option[Long] = Option(waiting.peekFirst()).map(_.deadline)

  /** The entry in flight that was written first. */
  def oldest: Option[Pending[Entry]] = (waiting.iterator.asScala ++ cancelled.iterator.asScala).map(
    _.oldest
  ).minByOption(_.ordinal)

  /** Returns each expired request once. Expired requests stay in flight until their futures complete. */
  def expire(now: Long): Seq[Request[Entry]] = {
    val expired = Seq.newBuilder[Request[Entry]]
    while (!waiting.isEmpty && waiting.peekFirst().deadline - now <= 0) {
      val request = waiting.removeFirst()
      request.expire()
      cancelled.addLast(request)
      expired += request
    }
    expired.result()
  }
}
