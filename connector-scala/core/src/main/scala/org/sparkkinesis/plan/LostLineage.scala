package org.sparkkinesis.plan

import org.sparkkinesis.model.{Shard, ShardId}
import org.sparkkinesis.shard.ShardGraph

/**
 * Where a stream has moved on from an offset by more than one generation of shards: the shards between have expired, and no listing
 * links the offset's shards to their descendants any more.
 *
 * @param finished
 *   shards of the offset that were read to their end and are not listed, nor is any child of theirs
 * @param unread
 *   the same for shards that were not read to their end
 * @param orphans
 *   the first listed shards of every line of descent that none of the offset's shards leads to
 */
final case class LostLineage(finished: Set[ShardId], unread: Set[ShardId], orphans: Set[ShardId]) {

  /** False when the descendants of everything that is finished are in the offset themselves. */
  def isLoss: Boolean = unread.nonEmpty || orphans.nonEmpty

  /** The offset without what is gone, and with what is left in its place, from its oldest record on. */
  def mend(stream: StreamOffset): StreamOffset =
    stream.copy(shards = stream.shards -- finished -- unread ++ orphans.map(_ -> ShardPosition.Horizon))
}

object LostLineage {

  /**
   * None when the offset's shards lead to everything that is listed. Pure.
   *
   * @param listed
   *   all shards of the stream; one that is missing by mistake looks as if it had expired
   */
  def of(stream: StreamOffset, listed: Seq[Shard]): Option[LostLineage] = {
    val present = stream.shards.keySet.toSet
    val ids = listed.iterator.map(_.id).toSet
    val graph = ShardGraph.of(listed)
    val gone = present.filter(shard => !ids(shard) && graph.children(shard).isEmpty)
    val related = present ++ graph.descendants(present) ++ graph.ancestors(present)
    val orphans = listed.filterNot(shard => related(shard.id) || shard.parents.exists(ids)).map(_.id).toSet
    val (finished, unread) = gone.partition(shard => stream.shards(shard) == ShardPosition.ShardEnd)
    Option.when(gone.nonEmpty || orphans.nonEmpty)(LostLineage(finished, unread, orphans))
  }
}
