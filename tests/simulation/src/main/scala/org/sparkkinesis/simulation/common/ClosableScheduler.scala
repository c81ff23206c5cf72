package org.sparkkinesis.simulation.common

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/** The threads of a part of a process. Their waiting tasks are dropped when it is closed. */
final class ClosableScheduler(process: SimulatedProcess) extends Scheduler with AutoCloseable {
  private var isClosed = false

  override def nanoTime: Long = process.scheduler.nanoTime
  override def currentMillis: Long = process.scheduler.currentMillis
  override def execute(task: Runnable): Unit =
    if (!isClosed) process.scheduler.execute(() => if (!isClosed) task.run())
  override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable =
    if (isClosed) Cancellable.None else process.scheduler.schedule(delay)(if (!isClosed) task)
  override def close(): Unit = isClosed = true
}
