package org.sparkkinesis.sink.writer

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/** Calls `ring` at the earliest of the requested times since the last call. Guarded by the lock of its owner. */
final private[sink] class Alarm(scheduler: Scheduler, ring: () => Unit) {
  private var pending: Option[(Long, Cancellable)] = None

  def setBy(atNanos: Long): Unit = if (pending.forall(atNanos - _._1 < 0)) {
    cancel()
    pending = Some(atNanos -> scheduler.schedule(math.max(0, atNanos - scheduler.nanoTime).nanos)(ring()))
  }

  /** Called when it rings. If a later call was scheduled meanwhile, that call remains. */
  def rang(nowNanos: Long): Unit = if (pending.exists(_._1 - nowNanos <= 0)) pending = None

  def cancel(): Unit = {
    pending.foreach(_._2.cancel())
    pending = None
  }
}
