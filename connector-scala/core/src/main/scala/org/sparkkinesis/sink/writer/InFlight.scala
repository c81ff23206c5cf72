package org.sparkkinesis.sink.writer

import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture

import scala.jdk.CollectionConverters._

import org.sparkkinesis.sink.{RetryCause, Verdict}

/**
 * One request under way.
 *
 * @param granted
 *   entries that the permit allowed
 */
final private[sink] class Request[Entry](
    val batch: IndexedSeq[Pending[Entry]],
    val granted: Int,
    val startedAt: Long,
    val deadline: Long
) {
  private var answer: CompletableFuture[_] = null
  private var expired = false

  /** The entry that was written first. */
  val oldest: Pending[Entry] = batch.minBy(_.ordinal)

  def hasExpired: Boolean = synchronized(expired)

  /** To be told the answer that `send` has returned; it is cancelled at once if the request expired meanwhile. */
  def started(future: CompletableFuture[_]): Unit = {
    val late = synchronized {
      answer = future
      expired
    }
    if (late) future.cancel(true)
  }

  def expire(): Unit = synchronized { expired = true }

  /**
   * What became of each entry, by what the destination's future gave. A request that was cancelled may have arrived; whatever
   * else fails the future is final.
   */
  def verdicts(answer: IndexedSeq[Verdict], error: Throwable): IndexedSeq[Verdict] =
    if (error != null) {
      if (hasExpired)
        all(Verdict.Retry(RetryCause.Unanswered, s"no answer within ${(deadline - startedAt) / 1000000} ms"))
      else all(Verdict.Fatal(error))
    } else if (answer != null && answer.size == batch.size) answer
    else {
      val found = if (answer == null) "no" else answer.size.toString
      val text = s"the destination answered $found verdicts for ${batch.size} entries"
      all(Verdict.Fatal(new IllegalStateException(text)))
    }

  private def all(verdict: Verdict): IndexedSeq[Verdict] = batch.map(_ => verdict)

  /** Cancels the request's answer. To be called without the writer's lock: the answer may come from within the call. */
  def cancel(): Unit = {
    val future = synchronized(answer)
    if (future != null) future.cancel(true)
    ()
  }
}

/** The requests without an answer, in the order of their deadlines. Guarded by the writer's lock. */
final private[sink] class InFlight[Entry] {
  private val waiting = new ArrayDeque[Request[Entry]]
  private val cancelled = new ArrayDeque[Request[Entry]]

  def size: Int = waiting.size + cancelled.size

  def add(request: Request[Entry]): Unit = waiting.addLast(request)

  def remove(request: Request[Entry]): Unit = if (!waiting.remove(request)) {
    cancelled.remove(request)
    ()
  }

  /** When the next request expires. */
  def nextDeadline: Option[Long] = Option(waiting.peekFirst()).map(_.deadline)

  /** The entry under way that was written first. */
  def oldest: Option[Pending[Entry]] = (waiting.iterator.asScala ++ cancelled.iterator.asScala).map(
    _.oldest
  ).minByOption(_.ordinal)

  /** The requests whose time is over, each of them once. They stay under way until their answers come. */
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
