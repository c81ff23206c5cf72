package org.sparkkinesis.aws.http

import java.util.concurrent.{CancellationException, CompletableFuture}

import org.sparkkinesis.aws.error.UnsentCall

/** A call of several steps, of which one runs at a time. `cancel` cancels the step that runs, and all later ones. */
final private[aws] class RunningCall {
  private var current: CompletableFuture[_] = null
  private var isCancelled = false

  /** Makes the next step unless the call was cancelled. */
  def step[R](make: => CompletableFuture[R]): CompletableFuture[R] = {
    val made =
      if (synchronized(isCancelled))
        CompletableFuture.failedFuture[R](new UnsentCall(new CancellationException("The call was cancelled")))
      else make
    val isLate = synchronized {
      current = made
      isCancelled
    }
    if (isLate) made.cancel(true)
    made
  }

  def cancel(): Unit = {
    val made = synchronized {
      isCancelled = true
      current
    }
    if (made != null) made.cancel(true)
    ()
  }
}
