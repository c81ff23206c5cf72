package org.sparkkinesis.spark.sink

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/**
 * Interrupts calls that block for a task that was killed. Spark itself interrupts the thread of a killed task only if
 * the job asks for it, so the task of a cancelled job would wait for a slow stream, and write on.
 *
 * @param isKilled
 *   whether the task was killed; any thread may call it
 */
final private[sink] class KillWatch(isKilled: () => Boolean, scheduler: Scheduler) extends AutoCloseable {
  private var calling: Thread = null
  private var isClosed = false
  private var next: Cancellable = scheduler.schedule(KillWatch.Every)(check())

  /** Makes a call that may block. */
  def watching[A](call: => A): A = {
    synchronized { calling = Thread.currentThread() }
    try call
    finally synchronized { calling = null }
  }

  override def close(): Unit = synchronized {
    isClosed = true
    next.cancel()
  }

  private def check(): Unit = {
    val kills = isKilled()
    synchronized {
      if (kills && calling != null) calling.interrupt()
      if (!isClosed) next = scheduler.schedule(KillWatch.Every)(check())
    }
  }
}

private object KillWatch {
  private val Every = 500.millis
}
