package org.sparkkinesis.spark.connection

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/**
 * A scheduler whose clock shows the service's time, as reported by the driver. It is never ahead of the service: if it
 * were, a shard would count as read up to a time at which records still arrive. Before the first report it shows this
 * process's own clock, which may be wrong.
 *
 * `close` also closes the underlying scheduler. Thread-safe.
 */
final class ServiceTimeScheduler(underlying: Scheduler with AutoCloseable) extends Scheduler with AutoCloseable {

  /** Lower bound of the service's time minus this process's running time, in milliseconds. */
  @volatile private var ahead = Option.empty[Long]

  /** Records that the service's clock had reached this time, in epoch milliseconds, at some time before now. */
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
