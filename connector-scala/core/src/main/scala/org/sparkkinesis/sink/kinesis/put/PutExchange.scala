package org.sparkkinesis.sink.kinesis.put

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.concurrent.AbortableFuture
import org.sparkkinesis.sink.Verdict

/**
 * The steps of one request, of which the call of PutRecords can be given up. The future is done when the last step is, so that
 * nothing of a request can take effect after it.
 */
final private[kinesis] class PutExchange {
  private var call: CompletableFuture[_] = null
  private var aborted = false

  val verdicts = new AbortableFuture[IndexedSeq[Verdict]](() => abort())

  /** Whether the request was given up. */
  def isAborted: Boolean = synchronized(aborted)

  /** The call that is to be cancelled when the request is given up. */
  def calls[A](future: CompletableFuture[A]): CompletableFuture[A] = {
    val late = synchronized {
      call = future
      aborted
    }
    if (late) future.cancel(true)
    future
  }

  def completesWith(last: CompletableFuture[IndexedSeq[Verdict]]): Unit = {
    last.whenComplete { (result, error) =>
      if (error == null) verdicts.complete(result) else verdicts.completeExceptionally(error)
      ()
    }
    ()
  }

  private def abort(): Unit = {
    val running = synchronized {
      aborted = true
      call
    }
    if (running != null) running.cancel(true)
    ()
  }
}
