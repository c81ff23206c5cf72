package org.sparkkinesis.plan.offset

import org.sparkkinesis.model.{Shard, ShardId}
import org.sparkkinesis.shard.ShardGraph

/**
 * The part of an offset whose lineage is lost: the stream was resharded more than once since, the shards in between
 * have expired, and the listing no longer links the offset's shards to their descendants.
 *
 * @param finished
 *   shards of the offset that were read to their end and are not listed, and whose children are not listed
 * @param unread
 *   such shards that were not read to their end
 * @param orphans
 *   the first listed shard of every line of descent that is not related to a shard of the offset
 * @param merged
 *   listed shards that descend from a shard of the offset, and from a shard which is not related to the offset by any
 *   listing; no parent of them is listed
 */
final case class LostLineage(
    finished: Set[ShardId],
    unread: Set[ShardId],
    orphans: Set[ShardId],
    merged: Set[ShardId] = Set.empty
) {

  /** False if all descendants of the finished shards are in the offset. */
  def isLoss: Boolean = unread.nonEmpty || left.nonEmpty

  /** The shards of the offset that have expired. */
  def gone: Set[ShardId] = finished ++ unread

  /** The first listed shards after those that have expired. */
  def left: Set[ShardId] = orphans ++ merged

  /**
   * Returns the offset without the missing shards and with the orphans, from their oldest record on.
   *
   * @param sinceMillis
   *   a time, in epoch milliseconds, before which all records of the orphans count as lost with the lineage
   */
  def mend(stream: StreamOffset, sinceMillis: Long): StreamOffset = stream.copy(
    shards = stream.shards -- gone ++ orphans.map(_ -> ShardPosition.Horizon),
    begun = stream.begun -- gone,
    since = stream.since -- gone ++ orphans.map(_ -> sinceMillis)
  )
}

object LostLineage {

  /**
   * Returns `None` if all listed shards are related to shards of the offset. Pure.
   *
   * @param listed
   *   all shards of the stream; a shard that is missing by mistake looks expired
   */
  def of(stream: StreamOffset, listed: Seq[Shard]): Option[LostLineage] = {
    val present = stream.shards.keySet.toSet
    val ids = listed.iterator.map(_.id).toSet
    val graph = ShardGraph.of(listed)
    val gone = present.filter(shard => !ids(shard) && graph.children(shard).isEmpty)
    val descendants = graph.descendants(present)
    val related = present ++ descendants ++ graph.ancestors(present)
    // The parents of a merged shard were closed at the same time and expire together, so a listing lacks the other one.
    def isMerged(shard: Shard) = shard.parents.exists(!related(_)) && !shard.parents.exists(ids)
    val merged = listed.filter(shard => descendants(shard.id) && isMerged(shard)).map(_.id).toSet
    val orphans = listed.filterNot(shard => related(shard.id) || shard.parents.exists(ids)).map(_.id).toSet
    val (finished, unread) = gone.partition(shard => stream.shards(shard) == ShardPosition.ShardEnd)
    Option.when(gone.nonEmpty || orphans.nonEmpty || merged.nonEmpty)(LostLineage(finished, unread, orphans, merged))
  }
}
