package org.sparkkinesis.sink.limit.shared

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean

import scala.annotation.tailrec

import org.sparkkinesis.event.{ConnectorEvent, EventSink}

/**
 * Holds events back until [[deliver]], because limits change while the locks of a writer, a lane or a strategy are
 * held. Thread-safe.
 */
final private class HeldEvents(to: EventSink) extends EventSink {
  private val held = new ConcurrentLinkedQueue[ConnectorEvent]
  private val isDelivering = new AtomicBoolean

  override def emit(event: ConnectorEvent): Unit = {
    held.add(event)
    ()
  }

  /**
   * Passes the events on in their order. Must be called without a lock. While one thread does so, the others return at
   * once, so that a slow receiver delays one of them at most.
   */
  @tailrec
  def deliver(): Unit = if (!held.isEmpty && isDelivering.compareAndSet(false, true)) {
    try drain()
    finally isDelivering.set(false)
    // For an event of a thread that found this one delivering.
    deliver()
  }

  @tailrec
  private def drain(): Unit = {
    val next = held.poll()
    if (next != null) {
      to.emit(next)
      drain()
    }
  }
}
