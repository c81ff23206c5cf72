package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.{count, positions, shards => named}
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}

/** Events of the shards of a stream that is read. Emitted on the driver. */
sealed abstract class ShardEvent(streamName: String) extends ConnectorEvent(EventSubject.Shard) {
  override def stream: Option[String] = Some(streamName)
}

/** ListShards returned. */
final case class ShardsListed(streamName: String, open: Int, closed: Int, added: Seq[ShardId])
    extends ShardEvent(streamName) {
  override def level: EventLevel = if (added.isEmpty) EventLevel.Debug else EventLevel.Info
  override def message: String =
    s"Listed ${count(open.toLong, "open shard")} and ${count(closed.toLong, "closed shard")}; " +
      (if (added.isEmpty) "none is new" else s"${added.size} new: ${named(added)}")
}

/** No listing had an open shard for some hash keys, so at least one shard is unknown. */
final case class ListingIncomplete(streamName: String, fromHashKey: BigInt, toHashKey: BigInt, listings: Int)
    extends ShardEvent(streamName) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String =
    s"$listings listings had no open shard for the hash keys from $fromHashKey to $toHashKey. " +
      "The query starts without that shard, because failOnDataLoss is false"
}

/** Shards that no executor reads were assigned to an executor. */
final case class ShardsAssigned(streamName: String, executor: String, shards: Seq[(ShardId, StartingPosition)])
    extends ShardEvent(streamName) {
  override def level: EventLevel = EventLevel.Info
  override def shard: Option[ShardId] = shards match {
    case Seq((only, _)) => Some(only)
    case _ => None
  }
  override def message: String = s"${count(shards.size.toLong, "shard")} assigned to executor $executor: " +
    positions(shards.map { case (shard, position) => shard -> Some(position) })
}

/** Shards moved from one live executor to another, so that executors read equal numbers of shards. */
final case class ShardsMoved(streamName: String, from: String, to: String, shards: Seq[(ShardId, StartingPosition)])
    extends ShardEvent(streamName) {
  override def level: EventLevel = EventLevel.Info
  override def shard: Option[ShardId] = shards match {
    case Seq((only, _)) => Some(only)
    case _ => None
  }
  override def message: String = s"${count(shards.size.toLong, "shard")} moved from executor $from to executor $to: " +
    positions(shards.map { case (shard, position) => shard -> Some(position) })
}

/** A consumer has fetched the last record of a closed shard. */
final case class ShardEnded(streamName: String, ended: ShardId, children: Seq[ShardId]) extends ShardEvent(streamName) {
  override def level: EventLevel = EventLevel.Info
  override def shard: Option[ShardId] = Some(ended)
  override def message: String = "The shard was fetched to its end; " +
    (if (children.isEmpty) "the service named no children, so the shards are listed"
     else s"children: ${named(children)}")
}

/** All records of the shard were processed, and its children have replaced it in the offsets. */
final case class ShardFinished(streamName: String, finished: ShardId) extends ShardEvent(streamName) {
  override def level: EventLevel = EventLevel.Debug
  override def shard: Option[ShardId] = Some(finished)
  override def message: String = "Every record of the shard was processed; the shard left the offsets"
}

/** `deaggregation.hashRangeFilter` dropped rows of KPL aggregates. Emitted on an executor. */
final case class RowsFiltered(of: StreamShard, rows: Long) extends ShardEvent(of.stream) {
  override def level: EventLevel = EventLevel.Warn
  override def shard: Option[ShardId] = Some(of.shard)
  override def message: String =
    s"deaggregation.hashRangeFilter dropped ${count(rows, "row")} whose hash keys belong to other shards. That is " +
      "right for records of the KPL, which puts such rows into the right shard again. Other producers put any keys " +
      "into one aggregate: for them, turn the filter off"
}
