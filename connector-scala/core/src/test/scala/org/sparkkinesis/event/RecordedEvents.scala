package org.sparkkinesis.event

import scala.concurrent.duration._
import scala.reflect.ClassTag

/**
 * Records events for a test in the order of their arrival. Thread-safe.
 *
 * @param onEmit
 *   called first, on the thread that emits the event
 */
final class RecordedEvents(onEmit: ConnectorEvent => Unit = _ => ()) extends EventSink {
  private var events = Vector.empty[ConnectorEvent]

  override def emit(event: ConnectorEvent): Unit = {
    onEmit(event)
    synchronized {
      events :+= event
      notifyAll()
    }
  }

  def all: Vector[ConnectorEvent] = synchronized(events)

  def of[E <: ConnectorEvent](implicit kind: ClassTag[E]): Vector[E] = all.collect { case event: E => event }

  /** Waits until `count` events of a type have arrived, and returns them. */
  def await[E <: ConnectorEvent](count: Int, limit: FiniteDuration = 20.seconds)(implicit
      kind: ClassTag[E]
  ): Vector[E] =
    synchronized {
      val deadline = limit.fromNow
      while (of[E].size < count && deadline.hasTimeLeft()) wait(math.max(1, deadline.timeLeft.toMillis))
      if (of[E].size < count) throw new AssertionError(s"not $count of $kind within $limit, but $events")
      of[E]
    }
}
