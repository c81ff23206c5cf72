package org.sparkkinesis.retry

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.service.ServiceException

/**
 * Makes an outage visible that is lived through by retries: a warning when something has failed several times in a row, and while it
 * lasts one for each period, however many shards it is about. Thread-safe.
 *
 * @param warn
 *   writes the text to the log
 */
final class RetryLog(scheduler: Scheduler, warn: String => Unit) {
  import RetryLog._

  private var quietUntilNanos = Option.empty[Long]
  private var unsaid = 0L

  /**
   * @param what
   *   that failed: a shard, a stream
   * @param failures
   *   in a row, of this one
   */
  def failed(what: => String, failures: Int, error: ServiceException): Unit =
    if (failures >= Notable) takeTurn().foreach { others =>
      val more = if (others > 0) s" ($others more failures since the last such warning)" else ""
      warn(s"$what: failed $failures times in a row, and is tried again: ${error.getMessage}$more")
    }

  /** How many were passed over, if it is time to warn again. */
  private def takeTurn(): Option[Long] = synchronized {
    val now = scheduler.nanoTime
    if (quietUntilNanos.exists(now - _ < 0)) {
      unsaid += 1
      None
    } else {
      quietUntilNanos = Some(now + Period.toNanos)
      val others = unsaid
      unsaid = 0
      Some(others)
    }
  }
}

object RetryLog {

  /** Single failures are everyday; they are counted in the metrics only. */
  val Notable = 5
  val Period: FiniteDuration = 30.seconds
}
