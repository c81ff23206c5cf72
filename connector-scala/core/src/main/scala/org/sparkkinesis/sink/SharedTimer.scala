package org.sparkkinesis.sink

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.concurrent.{Cancellable, Scheduler, SystemScheduler}

/** A hold on the one timer thread that all writers of the JVM share. The thread lives as long as anybody holds it. */
final class SharedTimer private (timer: SystemScheduler) extends Scheduler with AutoCloseable {
  private var isOpen = true

  override def nanoTime: Long = timer.nanoTime
  override def currentMillis: Long = timer.currentMillis
  override def execute(task: Runnable): Unit = timer.execute(task)
  override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = timer.schedule(delay)(task)

  override def close(): Unit = SharedTimer.synchronized {
    if (isOpen) {
      isOpen = false
      SharedTimer.release()
    }
  }
}

object SharedTimer {
  val ThreadName = "kinesis-sink-timer"
  private var current: Option[SystemScheduler] = None
  private var holders = 0

  def acquire(): SharedTimer = synchronized {
    val timer = current.getOrElse(new SystemScheduler(ThreadName, 1))
    current = Some(timer)
    holders += 1
    new SharedTimer(timer)
  }

  private def release(): Unit = {
    holders -= 1
    if (holders == 0) {
      current.foreach(_.close())
      current = None
    }
  }
}
