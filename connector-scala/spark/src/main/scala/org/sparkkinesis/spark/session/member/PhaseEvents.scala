package org.sparkkinesis.spark.session.member

import org.sparkkinesis.event.{
  ConnectorEvent, StreamDraining, StreamDropped, StreamJoined, StreamParked, StreamReturned
}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamPhase}

/** Makes the events for the streams that joined, left or returned between two offsets. */
private[member] object PhaseEvents {
  def of(before: SourceOffset, after: SourceOffset): Seq[ConnectorEvent] = {
    val changed = after.streams.values.toSeq.flatMap { stream =>
      val was = before.streams.get(stream.arn).map(_.phase)
      if (was.contains(stream.phase)) None
      else
        (was, stream.phase) match {
          case (None, _) => Some(StreamJoined(stream.arn, stream.shards.size))
          case (Some(_), StreamPhase.Active) => Some(StreamReturned(stream.arn))
          case (_, StreamPhase.Draining(_)) => Some(StreamDraining(stream.arn))
          case (_, StreamPhase.Parked(_, isDrained)) => Some(StreamParked(stream.arn, isDrained))
        }
    }
    changed ++ before.streams.keysIterator.filterNot(after.streams.contains).map(StreamDropped(_))
  }
}
