package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable

import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset}
import org.sparkkinesis.shard.{Lineage, ShardGraph}

/** Determines which shards must be read from the planned position and the ended shards. Pure. */
private[coordinator] object WantedShards {

  /**
   * Returns the unfinished shards of the streams that are read, and the children of fetched shards once all their
   * parents have been fetched to the end.
   */
  def of(
      offset: SourceOffset,
      graphs: String => ShardGraph,
      ended: StreamShard => Boolean
  ): Seq[(StreamShard, ShardPosition)] =
    offset.read.toVector.flatMap { stream =>
      val graph = graphs(stream.arn)
      val wanted = mutable.LinkedHashMap.empty[ShardId, ShardPosition]
      def isOver(shard: ShardId): Boolean =
        stream.shards.get(shard).contains(ShardPosition.ShardEnd) ||
          (wanted.contains(shard) && ended(StreamShard(stream.arn, shard)))
      def isAhead(shard: ShardId): Boolean = stream.shards.contains(shard) || wanted.contains(shard)
      def add(shard: ShardId, position: ShardPosition): Unit = if (!wanted.contains(shard)) {
        wanted(shard) = position
        if (ended(StreamShard(stream.arn, shard))) addChildren(shard)
      }
      def addChildren(shard: ShardId): Unit = graph.children(shard).foreach { child =>
        def isReady = Lineage.permits(graph, child)(parent => Option.when(isAhead(parent))(isOver(parent)))
        if (!stream.shards.contains(child) && isReady) add(child, ShardPosition.Horizon)
      }
      stream.shards.foreach { case (shard, position) => if (position != ShardPosition.ShardEnd) add(shard, position) }
      stream.shards.foreach { case (shard, position) => if (position == ShardPosition.ShardEnd) addChildren(shard) }
      // The second parent of a merge may have been added after the first one.
      wanted.keys.toVector.filter(shard => ended(StreamShard(stream.arn, shard))).foreach(addChildren)
      wanted.toVector.map { case (shard, position) => StreamShard(stream.arn, shard) -> position }
    }

  /** Whether a shard is not in the offset, and descends from one that is not read to its end. */
  def isPending(offset: SourceOffset, graphs: String => ShardGraph, shard: StreamShard): Boolean =
    offset.streams.get(shard.stream).exists { stream =>
      !stream.shards.contains(shard.shard) && graphs(shard.stream).ancestors(Set(shard.shard)).exists(
        stream.shards.get(_).exists(_ != ShardPosition.ShardEnd)
      )
    }
}
