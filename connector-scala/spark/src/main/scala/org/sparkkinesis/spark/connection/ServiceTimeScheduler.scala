package org.sparkkinesis.spark.connection

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/**
 * A scheduler whose clock shows the service's time, as far as another process has told it: never a later one, since what was read up to
 * a time would else leave out what arrives until then. The clock of this process, which may be wrong, is taken before anything was told.
 *
 * Closes the other scheduler with it. Thread-safe.
 */
final class ServiceTimeScheduler(underlying: Scheduler with AutoCloseable) extends Scheduler with AutoCloseable {

  /** The service's time less this process's running time, at least. */
  @volatile private var ahead = Option.empty[Long]

  /** The service's time was this one when it was told, which may have been a while ago, or later. */
  def heard(serviceMillis: Long): Unit = synchronized {
    val told = serviceMillis - runningMillis - 1
    if (ahead.forall(_ < told)) ahead = Some(told)
  }

  override def nanoTime: Long = underlying.nanoTime
  override def currentMillis: Long = ahead.fold(underlying.currentMillis)(_ + runningMillis)
  override def execute(task: Runnable): Unit = underlying.execute(task)
  override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = underlying.schedule(delay)(task)
  override def close(): Unit = underlying.close()

  private def runningMillis: Long = Math.floorDiv(underlying.nanoTime, 1000000L)
}
