package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.{count, place, seconds}
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.service.Operation

/** Events of the service calls that reads make. */
sealed abstract class ServiceEvent(streamName: String) extends ConnectorEvent(EventSubject.Service) {
  override def stream: Option[String] = Some(streamName)
}

/** The connector calls GetShardIterator. */
final case class IteratorRequested(of: StreamShard, position: StartingPosition) extends ServiceEvent(of.stream) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = Some(of.shard)
  override def message: String = s"Shard iterator requested ${place(position)}"
}

/** A shard iterator expired or was rejected, and is replaced. */
final case class IteratorRenewed(of: StreamShard, reason: String) extends ServiceEvent(of.stream) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = Some(of.shard)
  override def message: String = s"Shard iterator renewed: $reason"
}

/** The service rejected a call because a limit of the stream was exceeded. */
final case class CallThrottled(streamName: String, ofShard: Option[ShardId], operation: Operation)
    extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = ofShard
  override def message: String = s"${operation.name} was throttled"
}

/** A call failed and is retried. */
final case class CallRetried(streamName: String, ofShard: Option[ShardId], failures: Int, reason: String)
    extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = ofShard
  override def message: String = s"Call failed ${count(failures.toLong, "time")} in a row and is retried: $reason"
}

/** A call failed several times in a row. It is the first such call of its stream. */
final case class OutageBegan(streamName: String, ofShard: Option[ShardId], failures: Int, reason: String)
    extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def shard: Option[ShardId] = ofShard
  override def message: String = s"A call failed ${count(failures.toLong, "time")} in a row and is retried: $reason"
}

/** An outage continues. Emitted periodically. */
final case class OutageLasts(streamName: String, millis: Long, shards: Int, reason: String)
    extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    s"Calls for ${count(shards.toLong, "shard")} have failed for ${seconds(millis)} and are retried: $reason"
}

/** All calls of the stream succeed again. */
final case class OutageEnded(streamName: String, millis: Long, shards: Int) extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Info
  override def message: String =
    s"Calls for ${count(shards.toLong, "shard")} succeed again after failing for ${seconds(millis)}"
}

/** The connector could not decode a GetRecords response. The AWS SDK decodes it instead, at a higher cost. */
final case class AnswerUnreadable(streamName: String, reason: String) extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String = s"A GetRecords response is requested again and decoded by the AWS SDK: $reason"
}
