package org.sparkkinesis.concurrent

import scala.collection.mutable
import scala.concurrent.duration._

/**
 * A scheduler whose time passes only when a test advances it. Tasks run on the test's thread in the order of their
 * times. Other threads may schedule tasks.
 */
final class VirtualScheduler(startMillis: Long = 1_700_000_000_000L) extends Scheduler {
  final private class Task(val at: Long, val order: Long, val body: () => Unit)

  private val byTime: Ordering[Task] = (a, b) => {
    val order = java.lang.Long.compare(a.at, b.at)
    if (order != 0) order else java.lang.Long.compare(a.order, b.order)
  }
  private val tasks = mutable.TreeSet.empty[Task](byTime)
  private var now = 0L
  private var scheduled = 0L
  private var suspendedMillis = 0L

  override def nanoTime: Long = synchronized(now)
  override def currentMillis: Long = synchronized(startMillis + suspendedMillis + now / 1_000_000)

  /** Moves the clock, but not the running time, as if the machine had been suspended for this time. */
  def suspend(time: FiniteDuration): Unit = synchronized(suspendedMillis += time.toMillis)
  override def execute(task: Runnable): Unit = add(Duration.Zero, () => task.run())

  override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = {
    val added = add(delay, () => task)
    () => {
      synchronized(tasks -= added)
      ()
    }
  }

  def pending: Int = synchronized(tasks.size)

  /** Runs due tasks, and tasks that become due by them, without advancing the time. */
  def runDue(): Unit = advance(Duration.Zero)

  def advance(by: FiniteDuration): Unit = {
    val until = nanoTime + by.toNanos
    while (runNext(until)) {}
    synchronized { now = until }
  }

  /** Advances the time task by task until `condition` is true. Fails after `limit`. */
  def advanceUntil(limit: FiniteDuration)(condition: => Boolean): Unit = {
    val until = nanoTime + limit.toNanos
    while (!condition)
      if (!runNext(until)) throw new AssertionError(s"the condition did not come true within $limit")
  }

  private def runNext(until: Long): Boolean = {
    val next = synchronized {
      val task = tasks.headOption.filter(_.at <= until)
      task.foreach { due =>
        tasks -= due
        now = math.max(now, due.at)
      }
      task
    }
    next.foreach(_.body())
    next.isDefined
  }

  private def add(delay: FiniteDuration, body: () => Unit): Task = synchronized {
    scheduled += 1
    val task = new Task(now + math.max(0, delay.toNanos), scheduled, body)
    tasks += task
    task
  }
}
