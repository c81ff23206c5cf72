package org.sparkkinesis.concurrent

import java.util.concurrent.CompletableFuture

/**
 * A future whose `cancel` requests the end of the work and returns false. The future completes when the work has ended,
 * possibly with a result.
 *
 * @param abort
 *   requests the end; called for each `cancel` before completion, on the thread that cancels
 */
final class AbortableFuture[A](abort: () => Unit) extends CompletableFuture[A] {
  override def cancel(mayInterruptIfRunning: Boolean): Boolean = {
    if (!isDone) abort()
    false
  }
}
