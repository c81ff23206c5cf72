package org.sparkkinesis.spark.connection

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/**
 * A scheduler whose clock is the service's time as another process reported it. It is never ahead of the service's
 * time, because records that arrive up to a reported read time would be skipped otherwise. Before the first report,
 * it is the clock of this process, which may be wrong.
 *
 * Closing it closes the underlying scheduler. Thread-safe.
 */
final class ServiceTimeScheduler(underlying: Scheduler with AutoCloseable) extends Scheduler with AutoCloseable {

  /** Minimum difference between the service's time and this process's running time. */
  @volatile private var ahead = Option.empty[Long]

  /** Records a reported service time, which may be old by now. */
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
