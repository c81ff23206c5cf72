package org.sparkkinesis.sink.limit.shared

import scala.collection.mutable

import org.sparkkinesis.event.{ConnectorEvent, EventSink}

/** The receivers of the events of shared limits: one for each query that uses the limits now. Thread-safe. */
final private class LimitUsers extends EventSink {
  private val counts = mutable.LinkedHashMap.empty[EventSink, Int]

  def nonEmpty: Boolean = synchronized(counts.nonEmpty)

  def join(events: EventSink): Unit = synchronized(counts(events) = counts.getOrElse(events, 0) + 1)

  def leave(events: EventSink): Unit = synchronized {
    counts.updateWith(events)(_.map(_ - 1).filter(_ > 0))
    ()
  }

  override def emit(event: ConnectorEvent): Unit = synchronized(counts.keys.toVector).foreach(_.emit(event))
}
