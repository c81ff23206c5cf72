package org.sparkkinesis.sink.writer

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler}

/** One pending call of `ring`, at the earliest of the times asked for since it last rang. Guarded by its owner's lock. */
final private[sink] class Alarm(scheduler: Scheduler, ring: () => Unit) {
  private var pending: Option[(Long, Cancellable)] = None

  def setBy(atNanos: Long): Unit = if (pending.forall(atNanos - _._1 < 0)) {
    cancel()
    pending = Some(atNanos -> scheduler.schedule(math.max(0, atNanos - scheduler.nanoTime).nanos)(ring()))
  }

  /** To be told when it rings. A call that was replaced while it began to run leaves the later one in place. */
  def rang(nowNanos: Long): Unit = if (pending.exists(_._1 - nowNanos <= 0)) pending = None

  def cancel(): Unit = {
    pending.foreach(_._2.cancel())
    pending = None
  }
}
