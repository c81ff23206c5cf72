package org.sparkkinesis.metric

import org.sparkkinesis.event.{ConnectorEvent, ExecutorOutageBegan, ExecutorOutageEnded, OngoingOutage}

/**
 * Finds the beginning and the end of the outages that one executor reports, so that the driver's log has them too. An
 * executor in the driver's process causes none, because it writes to the driver's log itself. Not thread-safe.
 */
final class OutageWatch(executor: String) {
  private var known = Map.empty[String, OngoingOutage]

  /** Takes the outages of a report. Returns the events for those that have begun or ended since the last report. */
  def accept(outages: Seq[OngoingOutage]): Seq[ConnectorEvent] = {
    val now = outages.map(one => one.stream -> one).toMap
    val begun = outages.filterNot(one => known.contains(one.stream))
      .map(one => ExecutorOutageBegan(one.stream, executor, one.shards, one.reason))
    val ended = known.valuesIterator.filterNot(one => now.contains(one.stream)).toVector.sortBy(_.stream)
      .map(one => ExecutorOutageEnded(one.stream, executor, one.millis))
    known = now
    if (executor == OutageWatch.InDriver) Nil else begun ++ ended
  }
}

private object OutageWatch {

  /** Spark's id of the executor in the driver's process. */
  val InDriver = "driver"
}
