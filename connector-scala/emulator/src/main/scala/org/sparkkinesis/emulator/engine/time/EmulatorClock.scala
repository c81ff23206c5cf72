package org.sparkkinesis.emulator.engine.time

import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration.FiniteDuration

/**
 * The time of the emulator in epoch milliseconds. Thread-safe.
 *
 * `system` follows the clock of the machine and `manual` stands still. Both can be advanced, so that tests reach the
 * end of retention or of a five-minute subscription. When `advance` returns, all tasks that became due have run.
 */
final class EmulatorClock private (source: () => Long, val ticks: Boolean) {
  private val offset = new AtomicLong
  private val listeners = new CopyOnWriteArrayList[Runnable]

  def millis: Long = source() + offset.get
  def seconds: Long = millis / 1000

  def advance(by: FiniteDuration): Unit = {
    require(by.toMillis >= 0, s"The clock cannot be moved back, but was to be advanced by $by.")
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
