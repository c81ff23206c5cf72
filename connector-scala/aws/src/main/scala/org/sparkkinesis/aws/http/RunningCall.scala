package org.sparkkinesis.aws.http

import java.util.concurrent.CompletableFuture

/** A cancellable SDK call. Its future completes only when the service can receive nothing more of the call. */
final private[aws] class RunningCall {
  private var current: CompletableFuture[_] = null
  private var isCancelled = false

  /** Makes the call. After a failure, ends the HTTP exchange before the future completes. */
  def make[R](send: HttpExchange => CompletableFuture[R]): CompletableFuture[R] = {
    val exchange = new HttpExchange
    val made = send(exchange)
    val isLate = synchronized {
      current = made
      isCancelled
    }
    if (isLate) made.cancel(true)
    made.handle[CompletableFuture[R]] { (answer, error) =>
      if (error == null) CompletableFuture.completedFuture(answer)
      else exchange.end().thenCompose(_ => CompletableFuture.failedFuture[R](error))
    }.thenCompose(outcome => outcome)
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
