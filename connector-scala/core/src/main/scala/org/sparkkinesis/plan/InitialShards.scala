package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.PositionOption
import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.model.{Shard, ShardId, StartingPosition}
import org.sparkkinesis.service.ShardFilter
import org.sparkkinesis.shard.ShardGraph

/** From which shards, and where in each, a query without a checkpoint begins. Pure. */
object InitialShards {

  /** What to list: everything that can hold a record at or after the position. */
  def filter(position: StartingPosition): ShardFilter = position match {
    case StartingPosition.AtTimestamp(millis) => ShardFilter.FromTimestamp(millis)
    case _ => ShardFilter.FromTrimHorizon
  }

  /**
   * The first shards of every line of descent in `listed`; what came from them follows when they end.
   *
   * `latest` must have been pinned to a time before. Shards that the position names replace their ancestors.
   *
   * @param listed
   *   what ListShards gave for [[filter]] of the default position
   * @param all
   *   what ListShards gives without a filter, to check names against
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

  /** A named shard that takes the place of its ancestors leaves their other descendants to be started themselves. */
  private def siblingsLeft(replaced: Set[ShardId], named: Set[ShardId], graph: ShardGraph): Set[ShardId] =
    replaced.flatMap(graph.children).filterNot(shard => replaced(shard) || named(shard))
}
