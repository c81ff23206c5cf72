package org.sparkkinesis.concurrent

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{Executor, ScheduledThreadPoolExecutor, ThreadFactory, ThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._

/** Provides the time. Tests inject a virtual clock. */
trait Clock {

  /** Monotonic time in nanoseconds, for measuring intervals. */
  def nanoTime: Long

  /** Wall-clock time in epoch milliseconds. */
  def currentMillis: Long
}

/** The clock of this JVM. */
object SystemClock extends Clock {
  override def nanoTime: Long = System.nanoTime()
  override def currentMillis: Long = System.currentTimeMillis()
}

/** Runs background tasks and provides the time. Tests inject a virtual scheduler. Tasks must not block. */
trait Scheduler extends Executor with Clock {

  /** Runs `task` once after `delay` on a thread of this scheduler. */
  def schedule(delay: FiniteDuration)(task: => Unit): Cancellable
}

/** A task that can be cancelled. `cancel` has no effect if it was called before or the task has run. */
trait Cancellable {
  def cancel(): Unit
}

object Cancellable {
  val None: Cancellable = () => ()
}

/**
 * Runs tasks on its own daemon threads. The owner closes it.
 *
 * `close` returns immediately. Tasks that were submitted with `execute` still run, so that a component can cancel its
 * requests and then close its scheduler. Delayed tasks and tasks submitted after `close` are dropped.
 *
 * @param idleTime
 *   time after which a thread without a task ends, for a scheduler that nobody closes
 */
final class SystemScheduler(name: String, threads: Int, idleTime: Option[FiniteDuration] = None) extends Scheduler
    with AutoCloseable {
  private val pool = {
    val count = new AtomicInteger
    val factory: ThreadFactory = task => {
      val thread = new Thread(task, s"$name-${count.incrementAndGet()}")
      thread.setDaemon(true)
      thread
    }
    // Tasks that arrive after `close` are dropped silently.
    val executor = new ScheduledThreadPoolExecutor(threads, factory, new ThreadPoolExecutor.DiscardPolicy)
    executor.setRemoveOnCancelPolicy(true)
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false)
    idleTime.foreach { time =>
      executor.setKeepAliveTime(time.toNanos, TimeUnit.NANOSECONDS)
      executor.allowCoreThreadTimeOut(true)
    }
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

  /** Waits after `close` until the last task has ended. Returns false if `limit` has passed before that. */
  def awaitTermination(limit: FiniteDuration): Boolean = pool.awaitTermination(limit.toNanos, TimeUnit.NANOSECONDS)
}
