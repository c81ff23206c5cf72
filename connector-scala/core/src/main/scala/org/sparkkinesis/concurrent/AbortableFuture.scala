package org.sparkkinesis.concurrent

import java.util.concurrent.CompletableFuture

/**
 * The result of work that has to be ended before the result is known. `cancel` only asks for the end, and returns false: the
 * future completes when the work is over, with its result if there was one after all.
 *
 * @param abort
 *   asks for the end; called at each `cancel` of a future that is not done, on the thread that cancels
 */
final class AbortableFuture[A](abort: () => Unit) extends CompletableFuture[A] {
  override def cancel(mayInterruptIfRunning: Boolean): Boolean = {
    if (!isDone) abort()
    false
  }
}
