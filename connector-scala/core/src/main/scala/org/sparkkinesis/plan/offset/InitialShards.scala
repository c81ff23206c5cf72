package org.sparkkinesis.plan.offset

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.model.{Shard, ShardId, StartingPosition}
import org.sparkkinesis.service.ShardFilter
import org.sparkkinesis.shard.ShardGraph

/** Chooses the shards and positions at which a query without a checkpoint starts. Pure. */
object InitialShards {

  /** Returns the filter for ListShards that matches all shards that can contain a record at or after `position`. */
  def filter(position: StartingPosition): ShardFilter = position match {
    case StartingPosition.AtTimestamp(millis) => ShardFilter.FromTimestamp(millis)
    case _ => ShardFilter.FromTrimHorizon
  }

  /**
   * Returns the first shard of every line of descent in `listed`. Their descendants follow when they end.
   *
   * LATEST must be replaced by a time before. Shards that `position` names replace their ancestors.
   *
   * @param listed
   *   shards that ListShards returned for [[filter]] of the default position
   * @param all
   *   shards that ListShards returned without a filter, for checking names
   */
  def choose(
      stream: String,
      position: PositionOption,
      listed: Seq[Shard],
      all: Seq[Shard]
  ): SortedMap[ShardId, ShardPosition] = {
    checkNames(stream, position, all)
    val named = position.shards.keySet.toSet
    val graph = ShardGraph.of(all)
    val replaced = graph.ancestors(named) -- named
    val ids = listed.map(_.id).toSet
    val roots = listed.filterNot(shard => shard.parents.exists(ids)).map(_.id).toSet
    val started = named ++ roots.filterNot(replaced) ++ siblingsLeft(replaced, named, graph)
    val descendants = graph.descendants(started)
    started
      .filter(shard => named(shard) || !descendants(shard))
      .map(shard => shard -> (ShardPosition.Start(position.of(shard)): ShardPosition))
      .to(SortedMap)
  }

  /** @throws KinesisConnectorException KINESIS_SHARD_UNKNOWN */
  def checkNames(stream: String, position: PositionOption, all: Seq[Shard]): Unit = {
    val known = all.map(_.id).toSet
    position.shards.keys.find(shard => !known(shard)).foreach { shard =>
      throw ReadErrors.shardUnknown(
        shard = shard.value,
        stream = stream,
        known = all.take(20).map(_.id.value).mkString(", ")
      )
    }
  }

  /** Other children of the ancestors that a named shard replaces. They must be started themselves. */
  private def siblingsLeft(replaced: Set[ShardId], named: Set[ShardId], graph: ShardGraph): Set[ShardId] =
    replaced.flatMap(graph.children).filterNot(shard => replaced(shard) || named(shard))
}
