package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.seconds

/** Events of the metadata service that names the streams of a query. */
sealed abstract class MetadataEvent extends ConnectorEvent(EventSubject.Query)

/**
 * A new version of the metadata document is used.
 *
 * @param difference
 *   the streams that were added, removed or changed, without their properties
 */
final case class MetadataChanged(version: Long, difference: String) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = None
  override def message: String = s"Version $version of the metadata document is used: $difference"
}

/**
 * The metadata service gave no valid answer. The streams of the last one stay.
 *
 * @param inARow
 *   number of failures since the last valid answer
 * @param ageMillis
 *   age of the last valid answer; empty if there was none
 */
final case class MetadataNotFetched(reason: String, inARow: Int, ageMillis: Option[Long]) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def message: String = {
    val kept = ageMillis.fold("There is no earlier answer")(age => s"The streams of ${seconds(age)} ago stay in use")
    s"The metadata service gave no valid answer ($inARow in a row): $reason $kept"
  }
}

/** The metadata service gives valid answers again. */
final case class MetadataRecovered(failures: Int) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = None
  override def message: String =
    s"The metadata service gives valid answers again after ${EventText.count(failures.toLong, "failure")}"
}

/** The metadata service names a stream that this query must not use. No call reaches the stream. */
final case class StreamForbidden(streamName: String, reason: String, option: String) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def message: String =
    s"KINESIS_METADATA_FORBIDDEN: the metadata service names a stream that is not used: $reason (option '$option')"
}

/** Other users of the machine may change the file of the metadata document. */
final case class MetadataFileUnprotected(path: String) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def message: String =
    s"Every user of the machine may write the metadata document $path, and so direct this query to other streams"
}

/** A stream is read that the metadata service added. */
final case class StreamJoined(streamName: String, shards: Int) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = Some(streamName)
  override def message: String = s"The stream joined with ${EventText.count(shards.toLong, "shard")}"
}

/** A stream that the metadata service named cannot be opened. It joins when it can. */
final case class StreamPending(streamName: String, reason: String) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def message: String = s"The stream cannot be read yet, and will be tried again: $reason"
}

/** A stream was removed and is read until it has no more records. */
final case class StreamDraining(streamName: String) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = Some(streamName)
  override def message: String = "The stream was removed, and is read until it has no more records"
}

/**
 * A stream that was removed is not read any more.
 *
 * @param isDrained
 *   whether every record was read before
 */
final case class StreamParked(streamName: String, isDrained: Boolean) extends MetadataEvent {
  override def level: EventLevel = if (isDrained) EventLevel.Info else EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def message: String =
    if (isDrained) "The removed stream was read to its end. Its position is kept"
    else "The removed stream is not read any more, though it may have unread records. Its position is kept"
}

/** A stream that was removed is active again, and is read on from its position. */
final case class StreamReturned(streamName: String) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = Some(streamName)
  override def message: String = "The stream is active again, and is read on from its position"
}

/** The position of a stream that was removed long ago is not kept any more. */
final case class StreamDropped(streamName: String) extends MetadataEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = Some(streamName)
  override def message: String = "The position of the removed stream is not kept any more"
}
