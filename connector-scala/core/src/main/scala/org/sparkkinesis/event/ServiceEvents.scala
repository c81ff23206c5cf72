package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.{count, place, seconds}
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}

/** What happens to the calls of the service that reading makes. */
sealed abstract class ServiceEvent(streamName: String) extends ConnectorEvent(EventSubject.Service) {
  override def stream: Option[String] = Some(streamName)
}

/** GetShardIterator is called. */
final case class IteratorRequested(of: StreamShard, position: StartingPosition) extends ServiceEvent(of.stream) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = Some(of.shard)
  override def message: String = s"Shard iterator requested ${place(position)}"
}

/** A shard iterator expired or was refused; a new one takes its place. */
final case class IteratorRenewed(of: StreamShard, reason: String) extends ServiceEvent(of.stream) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = Some(of.shard)
  override def message: String = s"Shard iterator renewed: $reason"
}

/** The service refused a call because the stream's limits are exceeded. */
final case class CallThrottled(streamName: String, ofShard: Option[ShardId], operation: String)
    extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = ofShard
  override def message: String = s"$operation was throttled"
}

/** A call failed and will be made again. */
final case class CallRetried(streamName: String, ofShard: Option[ShardId], failures: Int, reason: String)
    extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = ofShard
  override def message: String = s"Call failed ${count(failures.toLong, "time")} in a row and is retried: $reason"
}

/** A call has failed several times in a row, the first of its stream to do so. */
final case class OutageBegan(streamName: String, ofShard: Option[ShardId], failures: Int, reason: String)
    extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def shard: Option[ShardId] = ofShard
  override def message: String = s"A call failed ${count(failures.toLong, "time")} in a row and is retried: $reason"
}

/** Told from time to time while an outage lasts. */
final case class OutageLasts(streamName: String, millis: Long, shards: Int, reason: String)
    extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    s"Calls have failed for ${seconds(millis)} now, of ${count(shards.toLong, "shard")}, and are retried: $reason"
}

/** No call of the stream fails any more. */
final case class OutageEnded(streamName: String, millis: Long, shards: Int) extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Info
  override def message: String =
    s"Calls succeed again; they had failed for ${seconds(millis)}, of ${count(shards.toLong, "shard")}"
}

/** The connector could not read an answer of GetRecords itself; the AWS SDK reads it instead, which costs more. */
final case class AnswerUnreadable(streamName: String, reason: String) extends ServiceEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String = s"An answer of GetRecords is requested again and read by the AWS SDK: $reason"
}
