package org.sparkkinesis.spark.coordinator.cluster

import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/**
 * Runs a task in rounds, one round at a time, on its own scheduler: when it is woken, and at least once per period. A
 * call of [[wake]] during a round starts one more round afterwards.
 *
 * @param scheduler
 *   the loop closes it
 * @param onFailure
 *   receives the error that ended the loop
 * @param round
 *   receives whether the period has passed; may block
 */
final private[spark] class BackgroundLoop(
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

  /** The thread that is running a round. */
  private var runner: Option[Thread] = None
  private var periodTimer: Cancellable = Cancellable.None

  /** The timer of [[wakeIn]], independent of the period. */
  private var alarm: Cancellable = Cancellable.None

  /** Requests a round. The first call starts the loop. */
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

  /** Requests another round after this time at the latest. A later request replaces an earlier one. */
  def wakeIn(millis: Long): Unit = synchronized {
    alarm.cancel()
    alarm = scheduler.schedule(millis.millis)(wake())
  }

  /** Ends the loop and interrupts a round that blocks. */
  override def close(): Unit = {
    val running = synchronized {
      isClosed = true
      runner
    }
    running.filterNot(_ == Thread.currentThread()).foreach(_.interrupt())
    scheduler.close()
  }

  /** Runs one round. The next one is a task of its own, so that a loop that always has a round lets others run. */
  private def run(): Unit =
    try if (begin()) {
        round(takeDue())
        scheduler.execute(() => run())
      }
    catch {
      case _: InterruptedException if closed => ()
      // Fatal errors, such as a missing class, are included: otherwise the query would wait for this loop forever.
      case failure: Throwable =>
        if (!closed) {
          close()
          onFailure(failure)
        }
    }

  private def closed: Boolean = synchronized(isClosed)

  /** Returns whether there is another round to run. */
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
