package org.sparkkinesis.concurrent

import java.io.InterruptedIOException
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException}

import scala.annotation.tailrec
import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

/** Functions for Java's futures. */
object Futures {

  /** Returns the original exception without the wrappers that dependent futures and `get` add. */
  @tailrec def unwrap(failure: Throwable): Throwable = failure match {
    case wrapped @ (_: CompletionException | _: ExecutionException) if wrapped.getCause != null =>
      unwrap(wrapped.getCause)
    case other => other
  }

  /** Returns the future of a call, which has failed if the call throws. */
  def attempt[A](call: => CompletableFuture[A]): CompletableFuture[A] =
    try call
    catch { case NonFatal(failure) => CompletableFuture.failedFuture(failure) }

  /** Completes `to` with the result or the failure of `from`. */
  def forward[A](from: CompletableFuture[A], to: CompletableFuture[A]): Unit = {
    from.whenComplete { (value, failure) =>
      if (failure == null) to.complete(value) else to.completeExceptionally(failure)
      ()
    }
    ()
  }

  /** Returns a future that is done when all are done, whatever their results. */
  def allDone(futures: Iterable[CompletableFuture[_]]): CompletableFuture[Void] =
    CompletableFuture.allOf(futures.toSeq: _*)

  /** Returns a future of `call` whose `cancel` asks for the end of the call, and which is done when that has ended. */
  def abortable[A, B](call: CompletableFuture[A])(result: A => B): CompletableFuture[B] = {
    val ended = new AbortableFuture[B](() => {
      call.cancel(true)
      ()
    })
    forward(call.thenApply[B](result(_)), ended)
    ended
  }

  /** Returns the failure of a future that is done, if it has failed. */
  def failureOf(done: CompletableFuture[_]): Option[Throwable] =
    if (!done.isCompletedExceptionally) None
    else
      try {
        done.join()
        None
      } catch { case NonFatal(failure) => Some(unwrap(failure)) }

  /** Returns a future that is done after `delay`, on a thread of the scheduler. */
  def after(scheduler: Scheduler, delay: FiniteDuration): CompletableFuture[Unit] = {
    val over = new CompletableFuture[Unit]
    scheduler.schedule(delay) {
      over.complete(())
      ()
    }
    over
  }

  /**
   * Returns the interrupt that caused a failure, if one did. Callers throw it instead of the failure, because Spark
   * stops a query by interrupting its thread, and takes any other exception for a failure of the query.
   */
  def interruptOf(failure: Throwable): Option[InterruptedException] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).take(LongestChain).collectFirst {
      case interrupt: InterruptedException => interrupt
      case closed: ClosedByInterruptException => interruptBy(closed)
      case interrupted: InterruptedIOException if !interrupted.isInstanceOf[SocketTimeoutException] =>
        interruptBy(interrupted)
    }

  private def interruptBy(failure: Throwable): InterruptedException = {
    val interrupt = new InterruptedException(failure.toString)
    interrupt.initCause(failure)
    interrupt
  }

  /** A chain of causes may be a cycle. */
  private val LongestChain = 50
}
