package org.sparkkinesis.sink.writer

import java.util.concurrent.locks.{Condition, Lock, ReentrantLock}

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.concurrent.Scheduler

/** The lock of a writer, and the condition on which the writer's thread waits for its progress. */
final private[writer] class WriterLock(newCondition: Lock => Condition) {
  private val lock = new ReentrantLock
  private val progress = newCondition(lock)

  def locked[A](body: => A): A = {
    lock.lock()
    try body
    finally lock.unlock()
  }

  /** Runs `body` without the lock, which the caller holds before and after it. */
  def unlocked(body: => Unit): Unit = {
    lock.unlock()
    try body
    finally lock.lock()
  }

  /** Wakes the writer's thread. The caller holds the lock. */
  def signalAll(): Unit = progress.signalAll()

  /** Waits for [[signalAll]]. The caller holds the lock before and after it. */
  def await(): Unit = progress.await()

  /** Waits for a state that [[signalAll]] announces, for a limited time, also if the thread is interrupted. */
  def awaitUninterruptibly(scheduler: Scheduler, limit: FiniteDuration)(isReached: => Boolean): Unit = locked {
    if (!isReached) {
      var isOverdue = false
      val overdue = scheduler.schedule(limit)(locked {
        isOverdue = true
        signalAll()
      })
      try while (!isReached && !isOverdue) progress.awaitUninterruptibly()
      finally overdue.cancel()
    }
  }
}
