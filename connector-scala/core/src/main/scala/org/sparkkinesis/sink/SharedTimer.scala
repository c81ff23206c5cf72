package org.sparkkinesis.sink

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler, Shared, SystemScheduler}

/** A share of the timer thread that all writers of the JVM use. The thread exists while there is a holder. */
final class SharedTimer private (held: Shared.Hold[SystemScheduler]) extends Scheduler with AutoCloseable {
  private val timer = held.value

  override def nanoTime: Long = timer.nanoTime
  override def currentMillis: Long = timer.currentMillis
  override def execute(task: Runnable): Unit = timer.execute(task)
  override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = timer.schedule(delay)(task)
  override def close(): Unit = held.close()
}

object SharedTimer {
  val ThreadName = "kinesis-sink-timer"

  private val timers =
    new Shared[Unit, SystemScheduler](_ => new SystemScheduler(ThreadName, 1), _.close(), Duration.Zero, Shared.onTimer)

  def acquire(): SharedTimer = new SharedTimer(timers.acquire(()))
}
