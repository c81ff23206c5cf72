package org.sparkkinesis.spark.read.reader

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/**
 * Ends a task that waits for a stream which its executor cannot reach, so that Spark runs it again, possibly in an
 * executor that reaches the stream.
 *
 * @param isUnreachable
 *   whether the task's calls have received no answer for some time; called on a thread of the scheduler
 * @param giveUp
 *   called at most once, on a thread of the scheduler
 */
final private[reader] class SilenceWatch(isUnreachable: () => Boolean, giveUp: () => Unit, scheduler: Scheduler)
    extends AutoCloseable {
  import SilenceWatch._

  @volatile private var isWaiting = false
  @volatile private var isClosed = false
  @volatile private var next: Cancellable = check(0)

  /** Runs `body`, which waits for the service on the task's thread. */
  def waiting[A](body: => A): A = {
    isWaiting = true
    try body
    finally isWaiting = false
  }

  override def close(): Unit = {
    isClosed = true
    next.cancel()
  }

  private def check(periods: Int): Cancellable = scheduler.schedule(Period) {
    val silent = if (isWaiting && isUnreachable()) periods + 1 else 0
    if (!isClosed) {
      if (silent < Periods) next = check(silent) else giveUp()
    }
  }
}

private[reader] object SilenceWatch {
  val Period: FiniteDuration = 5.seconds

  /** Number of checks in a row that find the stream unreachable, after which the task is given up. */
  val Periods = 4
}
