package org.sparkkinesis.sink.put

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.concurrent.{AbortableFuture, Futures}
import org.sparkkinesis.sink.Verdict

/**
 * The steps of one request, whose call of the service can be cancelled. The future is done after the last step, so that
 * the request cannot take effect afterwards.
 */
final class PutExchange {
  private var call: CompletableFuture[_] = null
  private var aborted = false

  val verdicts = new AbortableFuture[IndexedSeq[Verdict]](() => abort())

  /** Whether the request was aborted. */
  def isAborted: Boolean = synchronized(aborted)

  /** Registers the call to cancel if the request is aborted. */
  def calls[A](future: CompletableFuture[A]): CompletableFuture[A] = {
    val late = synchronized {
      call = future
      aborted
    }
    if (late) future.cancel(true)
    future
  }

  def completesWith(last: CompletableFuture[IndexedSeq[Verdict]]): Unit = Futures.forward(last, verdicts)

  private def abort(): Unit = {
    val running = synchronized {
      aborted = true
      call
    }
    if (running != null) running.cancel(true)
    ()
  }
}
