package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable

import org.sparkkinesis.model.{Shard, StreamShard}
import org.sparkkinesis.plan.offset.{LostLineage, StreamOffset}
import org.sparkkinesis.shard.ShardGraph

/**
 * The shards that were given up, because the service does not have them any more, and the listings of their streams
 * since then. If the children of a shard are unknown, its descendants are searched for in these listings. One listing
 * is not sufficient, because it may lack a shard for a while. Guarded by its owner's lock.
 */
final private[spark] class GivenUpShards {
  private val shards = mutable.LinkedHashSet.empty[StreamShard]

  /** The last listings of each stream with such a shard, newest first. */
  private val listings = mutable.HashMap.empty[String, Vector[Seq[Shard]]]

  def isEmpty: Boolean = shards.isEmpty

  /** Adds a shard. The listings before do not count, because they may be older than its end. */
  def add(shard: StreamShard): Unit = {
    shards += shard
    listings(shard.stream) = Vector.empty
  }

  /** Removes shards that have left the offset. */
  def remove(gone: Iterable[StreamShard]): Unit = if (shards.nonEmpty) {
    shards --= gone
    listings.filterInPlace((stream, _) => shards.exists(_.stream == stream))
  }

  /** Forgets the listings of a stream. */
  def listAgain(stream: String): Unit = if (listings.contains(stream)) listings(stream) = Vector.empty

  /** Records a complete listing of a stream. */
  def list(stream: String, listed: Seq[Shard]): Unit =
    listings.get(stream).foreach(before => listings(stream) = (listed +: before).take(ShardGraph.Omissions))

  /** Returns the streams that must be listed again before the descendants of a shard can be known. */
  def streamsToList(graphs: String => ShardGraph): Set[String] = listings.iterator.collect {
    case (stream, listed) if listed.size < ShardGraph.Omissions && unlinked(stream, graphs(stream)).nonEmpty => stream
  }.toSet

  /**
   * Returns the lineage that the offset has lost with the shards that were given up; `None` while a shard of the offset
   * that is not listed has not been given up or has records which are not planned, and if no shard remains.
   *
   * @param offset
   *   contains a shard as finished if it was given up and all of its fetched records are planned
   * @param graph
   *   the known lineage of the stream, also of shards that have expired
   */
  def lostLineage(offset: StreamOffset, graph: ShardGraph): Option[LostLineage] = for {
    listed <- listings.get(offset.arn).filter(_.size >= ShardGraph.Omissions)
    if unlinked(offset.arn, graph).exists(shard => offset.shards.contains(shard.shard))
    lost <- LostLineage.of(offset, listed.flatten.distinctBy(_.id))
    // The others were read before the shards of the offset, by an old listing, or are read after them.
    before = graph.ancestors(offset.shards.keySet.toSet)
    found = lost.copy(orphans =
      lost.orphans.filterNot(shard => before(shard) || graph.mayDescend(shard)(offset.shards.contains))
    )
    if found.unread.isEmpty && found.orphans.nonEmpty
  } yield found

  private def unlinked(stream: String, graph: ShardGraph): Iterator[StreamShard] =
    shards.iterator.filter(shard => shard.stream == stream && !graph.hasAllChildren(shard.shard))
}
