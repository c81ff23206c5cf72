package org.sparkkinesis.concurrent

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration

/**
 * Shares calls between callers. Two calls of one key start at least `period` apart. Callers that arrive in between
 * share the next call, so the call that answers a caller never started before the caller asked. Thread-safe.
 *
 * @param scheduler
 *   starts the calls that wait
 */
final class PacedCalls[K, A](scheduler: Scheduler, period: FiniteDuration) {
  final private class Pending(call: () => CompletableFuture[A]) {
    val answer = new CompletableFuture[A]

    def start(): Unit = Futures.forward(Futures.attempt(call()), answer)
  }

  /** The keys of the calls that started within the last period, and the call that follows each. */
  private val recent = mutable.HashMap.empty[K, Option[Pending]]

  /** Returns the answer of a call that starts now or, if one of this key has started in the last period, after it. */
  def apply(key: K)(call: => CompletableFuture[A]): CompletableFuture[A] = {
    val (pending, isFirst) = synchronized {
      recent.get(key) match {
        case Some(Some(shared)) => (shared, false)
        case other =>
          val own = new Pending(() => call)
          recent(key) = other.map(_ => own)
          (own, other.isEmpty)
      }
    }
    if (isFirst) start(key, pending)
    pending.answer
  }

  /** Number of keys that are remembered. */
  private[concurrent] def size: Int = synchronized(recent.size)

  private def start(key: K, pending: Pending): Unit = {
    scheduler.schedule(period)(proceed(key))
    pending.start()
  }

  private def proceed(key: K): Unit = synchronized {
    val waiting = recent.get(key).flatten
    if (waiting.isEmpty) recent -= key else recent(key) = None
    waiting
  }.foreach(start(key, _))
}
