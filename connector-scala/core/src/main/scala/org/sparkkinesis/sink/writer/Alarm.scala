package org.sparkkinesis.sink.writer

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/** Calls `ring` at the earliest of the requested times since the last call. Guarded by the lock of its owner. */
final private[sink] class Alarm(scheduler: Scheduler, ring: () => Unit) {
  private var next: Cancellable = null
  private var nextAt = 0L

  def setBy(atNanos: Long): Unit = if (next == null || atNanos - nextAt < 0) {
    cancel()
    nextAt = atNanos
    next = scheduler.schedule(math.max(0, atNanos - scheduler.nanoTime).nanos)(ring())
  }

  /** Called when it rings. If a later call was scheduled meanwhile, that call remains. */
  def rang(nowNanos: Long): Unit = if (nextAt - nowNanos <= 0) next = null

  def cancel(): Unit = if (next != null) {
    next.cancel()
    next = null
  }
}
