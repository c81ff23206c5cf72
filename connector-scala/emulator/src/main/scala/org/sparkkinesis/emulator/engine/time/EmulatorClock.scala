package org.sparkkinesis.emulator.engine.time

import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration.FiniteDuration

/**
 * The emulator's time in epoch milliseconds, as everything in it sees it. Thread-safe.
 *
 * `system` follows the machine's clock and `manual` stands still; either can be moved forward, which is how tests reach
 * the end of retention or of a five-minute subscription. What is due by then has happened when `advance` returns.
 */
final class EmulatorClock private (source: () => Long, val ticks: Boolean) {
  private val offset = new AtomicLong
  private val listeners = new CopyOnWriteArrayList[Runnable]

  def millis: Long = source() + offset.get
  def seconds: Long = millis / 1000

  def advance(by: FiniteDuration): Unit = {
    require(by.toMillis >= 0, s"the clock cannot be moved back, by $by")
    offset.addAndGet(by.toMillis)
    listeners.forEach(_.run())
  }

  private[emulator] def onAdvance(listener: Runnable): Unit = {
    listeners.add(listener)
    ()
  }
}

object EmulatorClock {
  def system: EmulatorClock = new EmulatorClock(() => System.currentTimeMillis(), ticks = true)

  def manual(startMillis: Long): EmulatorClock = new EmulatorClock(() => startMillis, ticks = false)
}
