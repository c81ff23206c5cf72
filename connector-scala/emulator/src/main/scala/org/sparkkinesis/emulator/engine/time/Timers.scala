package org.sparkkinesis.emulator.engine.time

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock

import scala.collection.mutable

import org.slf4j.LoggerFactory

/**
 * Runs tasks when the emulator's clock reaches their time, on its own daemon thread or on the thread that advances
 * the clock. Tasks must be short and must not block.
 */
final class Timers(clock: EmulatorClock) extends AutoCloseable {
  import Timers._

  private val lock = new ReentrantLock
  private val changed = lock.newCondition()
  private val running = new ReentrantLock
  private val queue = mutable.PriorityQueue.empty[Timer]
  private var count = 0L
  private var closed = false
  private val thread = new Thread(() => loop(), "kinesis-emulator-timers")

  thread.setDaemon(true)
  thread.start()
  clock.onAdvance(() => runDue())

  def after(delayMillis: Long)(task: () => Unit): Timer = at(clock.millis + delayMillis)(task)

  /** Runs the task immediately when the delay is zero, so that tests without delays see its effect on return. */
  def afterOrNow(delayMillis: Long)(task: () => Unit): Unit =
    if (delayMillis <= 0) task()
    else {
      after(delayMillis)(task)
      ()
    }

  def at(millis: Long)(task: () => Unit): Timer = locked {
    count += 1
    val timer = new Timer(millis, count, task)
    queue.enqueue(timer)
    changed.signal()
    timer
  }

  // Only one thread runs tasks, so that all due tasks have run when the clock's `advance` returns.
  private def runDue(): Unit = {
    running.lock()
    try {
      var due = nextDue()
      while (due != null) {
        due.run()
        due = nextDue()
      }
    } finally running.unlock()
  }

  private def nextDue(): Timer = locked {
    if (!closed && queue.nonEmpty && queue.head.dueMillis <= clock.millis) queue.dequeue() else null
  }

  private def loop(): Unit =
    while (locked(!closed)) {
      runDue()
      locked {
        if (!closed) {
          val wait = if (queue.isEmpty) Long.MaxValue else queue.head.dueMillis - clock.millis
          if (wait > 0) {
            if (!clock.ticks || queue.isEmpty) changed.await()
            else changed.await(wait, TimeUnit.MILLISECONDS)
          }
        }
      }
    }

  override def close(): Unit = locked {
    closed = true
    queue.clear()
    changed.signalAll()
  }

  private def locked[A](body: => A): A = {
    lock.lock()
    try body
    finally lock.unlock()
  }
}

object Timers {
  private val log = LoggerFactory.getLogger(classOf[Timers])

  /** One scheduled task. */
  final class Timer private[Timers] (val dueMillis: Long, private[Timers] val order: Long, work: () => Unit) {
    @volatile private var task = work

    /** Cancels the task and releases what it refers to. */
    def cancel(): Unit = task = null

    private[Timers] def run(): Unit = {
      val due = task
      if (due != null)
        try due()
        catch { case e: Exception => log.error("A timed task of the emulator failed", e) }
    }
  }

  implicit private val earliestFirst: Ordering[Timer] = (a, b) => {
    val byTime = java.lang.Long.compare(b.dueMillis, a.dueMillis)
    if (byTime != 0) byTime else java.lang.Long.compare(b.order, a.order)
  }
}
