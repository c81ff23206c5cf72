package org.sparkkinesis.concurrent

import java.util.concurrent.{BlockingQueue, CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration._

/**
 * How a thread waits for what other threads do. A simulation, which has one thread only, runs what is due meanwhile.
 *
 * Interrupting the thread ends each of these waits with an `InterruptedException`.
 */
trait Waiting {

  /** Waits until the future is done, at most this long, and tells whether it is. Failures of the future count as done. */
  def until(done: CompletableFuture[_], limit: FiniteDuration): Boolean

  /**
   * The future's result; waits for it without a limit.
   *
   * @throws ExecutionException
   *   when the future failed
   */
  def get[A](future: CompletableFuture[A]): A

  /** Takes the head of the queue, and waits until there is one. */
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
