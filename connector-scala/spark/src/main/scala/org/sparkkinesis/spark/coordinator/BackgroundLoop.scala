package org.sparkkinesis.spark.coordinator

import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/**
 * Runs rounds of placement, one at a time, on a scheduler of its own: when woken, and at least once each period. Wakes during a round
 * lead to one more.
 *
 * @param scheduler
 *   closed with the loop
 * @param onFailure
 *   is told what ended the loop
 * @param round
 *   is told whether the period has passed; may block
 */
final private[coordinator] class BackgroundLoop(
    scheduler: Scheduler with AutoCloseable,
    periodMillis: Long,
    onFailure: Throwable => Unit
)(round: Boolean => Unit) extends AutoCloseable {
  private val period = periodMillis.millis
  private var isWoken = false
  private var isRunning = false
  private var isStarted = false
  private var isClosed = false
  private var nextPeriod = 0L

  /** The thread that runs a round now. */
  private var runner: Option[Thread] = None
  private var periodTimer: Cancellable = Cancellable.None

  /** When it wakes by itself, beside its period. */
  private var alarm: Cancellable = Cancellable.None

  /** The first call starts the loop. */
  def wake(): Unit = synchronized {
    if (!isStarted) {
      isStarted = true
      startPeriod()
    }
    if (!isWoken && !isClosed) {
      isWoken = true
      if (!isRunning) scheduler.execute(() => run())
    }
  }

  /** Another round after so long, or earlier. For a round to ask for; it takes the place of what an earlier one asked for. */
  def wakeIn(millis: Long): Unit = synchronized {
    alarm.cancel()
    alarm = scheduler.schedule(millis.millis)(wake())
  }

  /** Ends the loop; a round that blocks is interrupted. */
  override def close(): Unit = {
    val running = synchronized {
      isClosed = true
      runner
    }
    running.filterNot(_ == Thread.currentThread()).foreach(_.interrupt())
    scheduler.close()
  }

  private def run(): Unit =
    try while (begin()) round(takeDue())
    catch {
      case _: InterruptedException if closed => ()
      // Also what is fatal to this thread, such as a class that is missing: the query must not wait for it for ever.
      case failure: Throwable =>
        if (!closed) {
          close()
          onFailure(failure)
        }
    }

  private def closed: Boolean = synchronized(isClosed)

  /** Whether there is another round to run. */
  private def begin(): Boolean = synchronized {
    isRunning = isWoken && !isClosed
    isWoken = false
    runner = Option.when(isRunning)(Thread.currentThread())
    isRunning
  }

  private def takeDue(): Boolean = synchronized {
    val isDue = scheduler.nanoTime >= nextPeriod
    if (isDue) startPeriod()
    isDue
  }

  private def startPeriod(): Unit = {
    nextPeriod = scheduler.nanoTime + TimeUnit.MILLISECONDS.toNanos(periodMillis)
    periodTimer.cancel()
    periodTimer = scheduler.schedule(period)(wake())
  }
}
