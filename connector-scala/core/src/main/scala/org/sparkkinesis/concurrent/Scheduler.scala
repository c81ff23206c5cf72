package org.sparkkinesis.concurrent

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{Executor, ScheduledThreadPoolExecutor, ThreadFactory, ThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._

/** The time of one process; tests inject a virtual one. */
trait Clock {

  /** Monotonic, for intervals. */
  def nanoTime: Long

  /** Wall clock, epoch milliseconds. */
  def currentMillis: Long
}

/** The clocks of this JVM. */
object SystemClock extends Clock {
  override def nanoTime: Long = System.nanoTime()
  override def currentMillis: Long = System.currentTimeMillis()
}

/** Threads and time for everything that runs in the background; tests inject a virtual one. Tasks must not block. */
trait Scheduler extends Executor with Clock {

  /** Runs `task` once, after `delay`, on one of this scheduler's threads. */
  def schedule(delay: FiniteDuration)(task: => Unit): Cancellable
}

/** Something that may still be called off; doing so twice, or too late, does no harm. */
trait Cancellable {
  def cancel(): Unit
}

object Cancellable {
  val None: Cancellable = () => ()
}

/**
 * Runs tasks on daemon threads of its own. The owner closes it.
 *
 * `close` returns at once. Tasks that were given to `execute` before still run, so that a component can cancel its requests
 * and then close its scheduler; tasks that wait for their delay are dropped, and so is what arrives later.
 */
final class SystemScheduler(name: String, threads: Int) extends Scheduler with AutoCloseable {
  private val pool = {
    val count = new AtomicInteger
    val factory: ThreadFactory = task => {
      val thread = new Thread(task, s"$name-${count.incrementAndGet()}")
      thread.setDaemon(true)
      thread
    }
    // After close() whatever still arrives has nobody to run for.
    val executor = new ScheduledThreadPoolExecutor(threads, factory, new ThreadPoolExecutor.DiscardPolicy)
    executor.setRemoveOnCancelPolicy(true)
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false)
    executor
  }

  override def nanoTime: Long = System.nanoTime()
  override def currentMillis: Long = System.currentTimeMillis()
  override def execute(task: Runnable): Unit = pool.execute(task)

  override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = {
    val future = pool.schedule((() => task): Runnable, delay.toNanos, TimeUnit.NANOSECONDS)
    () => {
      future.cancel(false)
      ()
    }
  }

  override def close(): Unit = pool.shutdown()

  /** Waits after `close` until the last task has ended; false after `limit`. */
  def awaitTermination(limit: FiniteDuration): Boolean = pool.awaitTermination(limit.toNanos, TimeUnit.NANOSECONDS)
}
