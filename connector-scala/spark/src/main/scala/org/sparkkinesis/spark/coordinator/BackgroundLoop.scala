package org.sparkkinesis.spark.coordinator

import java.util.concurrent.TimeUnit

/**
 * Runs rounds of placement on a thread of its own: when woken, and at least once each period. Wakes during a round lead to one more.
 *
 * @param onFailure
 *   is told what ended the loop
 * @param round
 *   is told whether the period has passed; may block
 */
final private[coordinator] class BackgroundLoop(
    name: String,
    periodMillis: Long,
    onFailure: Throwable => Unit
)(round: Boolean => Unit) extends AutoCloseable {
  private val lock = new Object
  private var isWoken = false

  /** When it wakes by itself, on the clock of `System.nanoTime`, beside its period. */
  private var alarm: Option[Long] = None
  private var isClosed = false
  private var isStarted = false
  private val thread = new Thread(() => run(), name)
  thread.setDaemon(true)

  /** The first call starts the loop. */
  def wake(): Unit = lock.synchronized {
    isWoken = true
    if (!isStarted && !isClosed) {
      isStarted = true
      thread.start()
    }
    lock.notifyAll()
  }

  /** Another round after so long, or earlier. For a round to ask for; it takes the place of what an earlier one asked for. */
  def wakeIn(millis: Long): Unit = lock.synchronized {
    alarm = Some(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis))
    lock.notifyAll()
  }

  /** Ends the loop; a round that blocks is interrupted. */
  override def close(): Unit = {
    lock.synchronized {
      isClosed = true
      lock.notifyAll()
    }
    thread.interrupt()
  }

  private def run(): Unit =
    try {
      var nextPeriod = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(periodMillis)
      while (awaitWake(nextPeriod)) {
        val isDue = System.nanoTime() >= nextPeriod
        if (isDue) nextPeriod = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(periodMillis)
        round(isDue)
      }
    } catch {
      case _: InterruptedException if closed => ()
      // Also what is fatal to this thread, such as a class that is missing: the query must not wait for it for ever.
      case failure: Throwable => if (!closed) onFailure(failure)
    }

  private def closed: Boolean = lock.synchronized(isClosed)

  /** False when the loop is to end. */
  private def awaitWake(nextPeriod: Long): Boolean = lock.synchronized {
    def next = alarm.fold(nextPeriod)(math.min(_, nextPeriod))
    while (!isWoken && !isClosed && System.nanoTime() < next)
      lock.wait(math.max(1, TimeUnit.NANOSECONDS.toMillis(next - System.nanoTime())))
    isWoken = false
    if (alarm.exists(_ <= System.nanoTime())) alarm = None
    !isClosed
  }
}
