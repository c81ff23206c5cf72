package org.sparkkinesis.spark.connection

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/**
 * A scheduler whose clock is the service's time as another process reported it. It is never ahead of the service's
 * time, because records that arrive up to a reported read time would be skipped otherwise. Before the first report,
 * it is the clock of this process, which may be wrong.
 *
 * Closing it closes the underlying scheduler. Thread-safe.
 *
 * @param onFatal
 *   receives an exhausted heap, a missing class and the like in a task, which a pool of threads would keep to itself
 */
final class ServiceTimeScheduler(underlying: Scheduler with AutoCloseable, onFatal: Throwable => Unit)
    extends Scheduler
    with AutoCloseable {

  /** Minimum difference between the service's time and this process's running time. */
  @volatile private var ahead = Option.empty[Long]

  /** Records a reported service time, which may be old by now. */
  def heard(serviceMillis: Long): Unit = synchronized {
    val told = serviceMillis - runningMillis - 1
    if (ahead.forall(_ < told)) ahead = Some(told)
  }

  override def nanoTime: Long = underlying.nanoTime
  override def currentMillis: Long = ahead.fold(underlying.currentMillis)(_ + runningMillis)
  override def execute(task: Runnable): Unit = underlying.execute(() => watched(task.run()))
  override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = underlying.schedule(delay)(watched(task))
  override def close(): Unit = underlying.close()

  private def watched(task: => Unit): Unit =
    try task
    catch {
      case fatal @ (_: VirtualMachineError | _: LinkageError) =>
        onFatal(fatal)
        throw fatal
    }

  private def runningMillis: Long = Math.floorDiv(underlying.nanoTime, 1000000L)
}
