package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.{count, seconds}
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.service.Operation

/** Events of writes. */
sealed abstract class WriteEvent extends ConnectorEvent(EventSubject.Write)

/**
 * A query starts writing. Emitted once per query, on the driver.
 *
 * @param connector
 *   version of the connector
 * @param settings
 *   the settings that decide order and rate, as text
 */
final case class WriteStarted(connector: String, streamName: Option[String], settings: String) extends WriteEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = streamName
  override def message: String = s"Write started by spark-kinesis $connector with $settings"
}

/**
 * Summary of what a query has written since the last one. Emitted on the driver: for a batch write when it is
 * finished, for a streaming query after its first micro-batch and then at most once every five minutes.
 *
 * @param batches
 *   number of micro-batches; empty for a batch write
 * @param records
 *   acknowledged records of the user
 * @param bytes
 *   payload and key bytes of the records
 * @param millis
 *   time that the summary covers
 */
final case class WriteSummary(
    batches: Option[Long],
    records: Long,
    bytes: Long,
    requests: Long,
    throttled: Long,
    retried: Long,
    millis: Long
) extends WriteEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = None
  override def message: String = {
    val what = batches.fold("Write finished")(n => s"${count(n, "micro-batch", "micro-batches")} written")
    s"$what in ${seconds(millis)}: ${count(records, "record")} ($bytes bytes) in ${count(requests, "request")}; " +
      s"$throttled throttled, $retried retried"
  }
}

/** A write was planned on the driver. A streaming query emits one for each micro-batch. */
final case class WritePlanned(streamName: Option[String], onInvalidRecord: String) extends WriteEvent {
  override def level: EventLevel = EventLevel.Debug
  override def stream: Option[String] = streamName
  override def message: String = s"Write planned, with onInvalidRecord '$onInvalidRecord'" +
    (if (streamName.isEmpty) "; the column 'stream' names the stream of each row" else "")
}

/** All records of a batch were stored. Emitted on the driver. */
final case class BatchWritten(epoch: Option[Long], records: Long, requests: Long, throttled: Long, retried: Long)
    extends WriteEvent {
  override def level: EventLevel = EventLevel.Debug
  override def stream: Option[String] = None
  override def message: String =
    s"${epoch.fold("Batch")(id => s"Micro-batch $id")} written: ${count(records, "record")} in " +
      s"${count(requests, "request")}; $throttled throttled, $retried retried"
}

/** Events of the requests of one stream. Emitted on an executor. */
sealed abstract class StreamWriteEvent(streamName: String) extends WriteEvent {
  override def stream: Option[String] = Some(streamName)
}

/** A request failed as a whole, and its records are sent again. */
final case class PutFailed(streamName: String, operation: Operation, records: Int, reason: String)
    extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    s"$operation with ${count(records.toLong, "record")} failed, and its records are sent again: $reason"
}

/**
 * A request had no response in time and is cancelled. Its records are sent again and may be stored twice.
 */
final case class PutTimedOut(streamName: String, operation: Operation, records: Int, millis: Long)
    extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String = s"$operation with ${count(records.toLong, "record")} got no answer within " +
    s"${seconds(millis)}; its records are sent again and may be stored twice"
}

/**
 * Aggregates were stored in other shards than planned, where readers would skip them, so their records are sent again.
 */
final case class RecordsMisplaced(streamName: String, aggregates: Int) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String =
    s"${count(aggregates.toLong, "aggregate")} went to another shard than planned, and the records are sent again"
}

/** The open shards were listed for the writers. A listing after the first one means that the stream was resharded. */
final case class ShardMapRefreshed(streamName: String, shards: Int, isFirst: Boolean)
    extends StreamWriteEvent(streamName) {
  override def level: EventLevel = if (isFirst) EventLevel.Debug else EventLevel.Info
  override def message: String =
    if (isFirst) s"Writers use ${count(shards.toLong, "open shard")}"
    else s"The stream was resharded; writers now use ${count(shards.toLong, "open shard")}"
}

final case class ShardMapNotRefreshed(streamName: String, reason: String) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String = s"The shards could not be listed; writers continue with those they know: $reason"
}

/** The stream ignores partition keys, so the connector cannot predict the shard of a record. */
final case class DistributionAutomatic(streamName: String) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String = "The stream chooses shards without regard to partition keys (record distribution " +
    "strategy AUTO); writers apply no limits for each shard"
}

/** The credentials do not allow ListShards. */
final case class ShardLimitsUnavailable(streamName: String, reason: String) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    s"Writers apply no limits for each shard, because the shards cannot be listed: $reason"
}

/**
 * A shard rejected records after a period without rejections. From now on its records are sent at its documented rate.
 */
final case class ShardPaced(streamName: String, paced: ShardId) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def shard: Option[ShardId] = Some(paced)
  override def message: String = "The shard throttles writes; records for it are now sent at the rate that it accepts"
}

/**
 * The rate of a shard was reduced.
 *
 * @param scale
 *   the new rate as a multiple of the documented rate
 */
final case class ShardRateCut(streamName: String, cut: ShardId, scale: Double) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = Some(cut)
  override def message: String =
    String.format(java.util.Locale.ROOT, "Rate of the shard cut to %.2f of its documented capacity", Double.box(scale))
}

/** A shard has not throttled for a period, so its rate is no longer limited. */
final case class ShardUnpaced(streamName: String, freed: ShardId) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = Some(freed)
  override def message: String = "The shard no longer throttles writes; its rate is not limited any more"
}

/**
 * The limit of a rate limiting strategy was reduced for the first time, or has halved or doubled since the last event.
 *
 * @param from
 *   the limit at the last event, as a number of entries in flight
 * @param to
 *   the current limit
 */
final case class WriteLimitChanged(streamName: String, from: Long, to: Long) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = if (to < from) EventLevel.Info else EventLevel.Debug
  override def message: String =
    s"Rate limiting ${if (to < from) "reduced" else "raised"} the limit of the writers in this executor " +
      s"from ${count(from, "record")} to ${count(to, "record")} in flight"
}

/**
 * A stream of a logical stream fails or accepts nothing. Its unacknowledged records are written to the other streams.
 *
 * @param records
 *   number of the records of this task; some may be stored twice
 */
final case class StreamLeft(streamName: String, records: Int, reason: String) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    "The stream is not written any more until it stores a record again. " +
      s"${count(records.toLong, "record")} of this task " +
      "that it has not acknowledged, some of which it may have stored, are written to the other streams. " +
      s"Reason: $reason"
}

/**
 * A query starts with the routes of its cache, because the metadata service has not answered yet.
 *
 * @param ageMillis
 *   age of the routes in milliseconds
 */
final case class RoutesStartFromCache(version: Long, ageMillis: Long, failures: Long) extends WriteEvent {
  override def stream: Option[String] = None
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    s"The write starts with version $version of the metadata from its cache, which is ${seconds(ageMillis)} " +
      s"old. The metadata service has not answered (${count(failures, "failure")})"
}

/** The cache of the routes is damaged. Without the metadata service, the query cannot start. */
final case class RouteCacheIgnored(file: String, reason: String) extends WriteEvent {
  override def stream: Option[String] = None
  override def level: EventLevel = EventLevel.Warn
  override def message: String = s"The cache $file of the metadata is not used: $reason"
}

/** The routes of a query cannot be stored, so a restart needs the metadata service. */
final case class RoutesNotCached() extends WriteEvent {
  override def stream: Option[String] = None
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    "The metadata is not kept, so that a restart of the query needs the metadata service. Set 'checkpointLocation' " +
      "or 'metadataCache'"
}

/** An executor with a stream in trouble could not ask the driver for newer routes. It asks again. */
final case class RoutesNotAsked(reason: String) extends WriteEvent {
  override def stream: Option[String] = None
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    s"The driver does not answer whether the metadata names other streams. The task asks again. Reason: $reason"
}

/** A stream that was left because of a failure has stored a record and is written again. */
final case class StreamUsedAgain(streamName: String) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Info
  override def message: String = "The stream has stored a record and is written again"
}

/** A task had rows that cannot become records. Emitted once per task and stream. */
final case class RowsInvalid(streamName: String, partition: Int, rows: Long, action: String, firstReason: String)
    extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    s"${count(rows, "invalid row")} of partition $partition $action. Reason of the first: $firstReason"
}

/** The rows have a column `stream`, but options name the stream that they are written to. */
final case class StreamColumnIgnored(streamName: String, column: String) extends StreamWriteEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String = s"The rows have a column '$column', which is ignored, because options name the " +
    "stream that they are written to. To send each row to the stream that this column names, set " +
    s"'streamColumn' to $column"
}
