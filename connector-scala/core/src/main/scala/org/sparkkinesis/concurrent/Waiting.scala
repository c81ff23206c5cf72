package org.sparkkinesis.concurrent

import java.util.concurrent.{BlockingQueue, CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration._

/**
 * Controls how a thread waits for other threads. The simulation has a single thread, and runs due tasks while it waits.
 *
 * Interrupting the thread ends each wait with an `InterruptedException`.
 */
trait Waiting {

  /** Waits at most `limit` until the future is done, and returns whether it is done. A failed future is done. */
  def until(done: CompletableFuture[_], limit: FiniteDuration): Boolean

  /** Waits for this time. */
  final def sleep(time: FiniteDuration): Unit = {
    until(new CompletableFuture[Unit], time)
    ()
  }

  /**
   * Waits without a limit and returns the result of the future.
   *
   * @throws ExecutionException
   *   if the future failed
   */
  def get[A](future: CompletableFuture[A]): A

  /** Removes and returns the head of the queue. Waits while the queue is empty. */
  def take[A](queue: BlockingQueue[A]): A
}

/** Blocks the calling thread. */
object BlockingWait extends Waiting {
  override def until(done: CompletableFuture[_], limit: FiniteDuration): Boolean =
    try {
      done.get(limit.toNanos, TimeUnit.NANOSECONDS)
      true
    } catch {
      case _: ExecutionException => true
      case _: TimeoutException => false
    }

  override def get[A](future: CompletableFuture[A]): A = future.get()
  override def take[A](queue: BlockingQueue[A]): A = queue.take()
}
