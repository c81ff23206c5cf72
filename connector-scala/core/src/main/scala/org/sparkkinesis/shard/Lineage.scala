package org.sparkkinesis.shard

import org.sparkkinesis.model.{ChildShard, ShardId}

/**
 * Decides that the records of a shard are read after those of its parents. Everyone who orders shards asks here, and
 * says what he knows of the parents: the planner of micro-batches, the placement of consumers, and the planner, tasks
 * and end of a real-time batch. Pure.
 */
object Lineage {

  /**
   * Whether a shard with these parents may be read now.
   *
   * @param isOver
   *   whether a parent was read to its end; `None` if it is not among the shards that are read
   * @param mayCome
   *   whether a shard that is not among them may be read later, so that its children have to wait for it. Otherwise it
   *   was read before, or has expired.
   */
  def permits(parents: Iterable[ShardId])(isOver: ShardId => Option[Boolean], mayCome: ShardId => Boolean): Boolean =
    parents.forall(parent => isOver(parent).getOrElse(!mayCome(parent)))

  /** Whether a known shard may be read now. A parent that may descend from a shard that is read is read after it. */
  def permits(graph: ShardGraph, shard: ShardId)(isOver: ShardId => Option[Boolean]): Boolean = {
    val parents = graph.parents(shard)
    parents.isEmpty || permits(parents)(isOver, graph.mayDescend(_)(isOver(_).nonEmpty))
  }

  /** Whether a child may be read by someone who knows which shards are finished, and nothing else. */
  def permits(child: ChildShard)(isFinished: ShardId => Boolean): Boolean =
    permits(child.parents)(parent => Option.when(isFinished(parent))(true), _ => true)

  /** Returns the child with the shard that reported it as its parent, if the service named none. */
  def named(child: ChildShard, by: ShardId): ChildShard =
    if (child.parents.isEmpty) child.copy(parents = Seq(by)) else child
}
