package org.sparkkinesis.shard

import scala.collection.mutable

import org.sparkkinesis.model.{ChildShard, HashKeyRange, Shard, ShardId}

/**
 * Which shard came from which, as far as it was listed or told. Immutable and pure.
 *
 * Parents may have expired and be unknown themselves.
 *
 * @param unconfirmed
 *   parents of which nothing but their names is known, and which need not have expired: a shard may be told of by one of its parents
 *   while what led to the other one, a split, is not known yet. A listing has to tell, see [[withListing]]
 */
final class ShardGraph private (private val nodes: Map[ShardId, ShardGraph.Node], val unconfirmed: Set[ShardId]) {
  private lazy val byParent: Map[ShardId, Seq[ShardId]] = nodes.toSeq
    .flatMap { case (child, node) => node.parents.map(_ -> child) }
    .groupMap(_._1)(_._2)
    .map { case (parent, children) => parent -> children.sorted }

  /** Asked for each shard with every batch, and most have no parents. */
  private lazy val withParents: Map[ShardId, Seq[ShardId]] = nodes.collect {
    case (child, node) if node.parents.nonEmpty => child -> node.parents
  }

  def parents(shard: ShardId): Seq[ShardId] = withParents.getOrElse(shard, Nil)
  def children(shard: ShardId): Seq[ShardId] = byParent.getOrElse(shard, Nil)

  /** Asked for each shard with every batch, too. */
  private lazy val ranges: java.util.HashMap[String, Option[HashKeyRange]] = {
    val found = new java.util.HashMap[String, Option[HashKeyRange]](nodes.size * 2)
    nodes.foreachEntry { (shard, node) => found.put(shard.value, Some(node.range)); () }
    found
  }

  /** The hash keys of a known shard. */
  def range(shard: ShardId): Option[HashKeyRange] = ranges.getOrDefault(shard.value, None)

  /** Whether the known children take all of the shard's keys, so that none of them is still to be found. */
  def hasAllChildren(shard: ShardId): Boolean = {
    val ranges = children(shard).flatMap(nodes.get).map(_.range)
    ranges.nonEmpty && nodes.get(shard).forall(node => HashKeyRange.gap(node.range, ranges).isEmpty)
  }

  /** Takes in what a shard's end told of its children. */
  def withChildren(children: Seq[ChildShard]): ShardGraph =
    withNodes(
      news(children.map(child => child.id -> ShardGraph.Node(child.parents, child.hashKeyRange))),
      unconfirmed ++ children.flatMap(_.parents)
    )

  /**
   * Takes a listing in; what is known already stays, since a listing may miss a shard that was told. A parent that it does not have
   * although it has the child has expired. Only where it has one parent of a merge and not the other, which were closed in the same
   * moment, it is asked once more.
   */
  def withListing(shards: Seq[Shard]): ShardGraph = {
    val listed = shards.map(shard => shard.id -> ShardGraph.Node(shard.parents, shard.hashKeyRange))
    val (ids, found) = (listed.iterator.map(_._1).toSet, news(listed))
    val halfKnown = found.map(_._2.parents).filter(_.exists(parent => ids(parent) || nodes.contains(parent))).flatten
    withNodes(found, unconfirmed -- listed.flatMap(_._2.parents) ++ halfKnown.filterNot(unconfirmed))
  }

  /** Every shard that came, directly or not, from one of `shards`. */
  def descendants(shards: Set[ShardId]): Set[ShardId] = reach(shards, children)

  def ancestors(shards: Set[ShardId]): Set[ShardId] = reach(shards, parents)

  /**
   * Whether this shard comes, directly or not, from one that is as wanted, or may do so for all that is known. Looks at each ancestor
   * once: by the ways there would be twice as many of them with every split that is merged again.
   */
  def mayDescend(shard: ShardId)(wanted: ShardId => Boolean): Boolean = {
    val seen = mutable.HashSet(shard)
    val frontier = mutable.Queue(shard)
    var found = unconfirmed(shard)
    while (!found && frontier.nonEmpty)
      parents(frontier.dequeue()).foreach { parent =>
        found ||= wanted(parent) || unconfirmed(parent)
        if (seen.add(parent)) frontier.enqueue(parent)
      }
    found
  }

  private def news(found: Seq[(ShardId, ShardGraph.Node)]): Seq[(ShardId, ShardGraph.Node)] =
    found.filterNot { case (id, node) => nodes.get(id).contains(node) }

  private def withNodes(found: Seq[(ShardId, ShardGraph.Node)], named: Set[ShardId]): ShardGraph = {
    val all = nodes ++ found
    val open = named.filterNot(all.contains)
    if (found.isEmpty && open == unconfirmed) this else new ShardGraph(all, open)
  }

  private def reach(from: Set[ShardId], next: ShardId => Seq[ShardId]): Set[ShardId] = {
    @scala.annotation.tailrec
    def go(seen: Set[ShardId], frontier: Set[ShardId]): Set[ShardId] =
      if (frontier.isEmpty) seen
      else {
        val found = frontier.flatMap(shard => next(shard)) -- seen
        go(seen ++ found, found)
      }
    go(Set.empty, from)
  }
}

object ShardGraph {
  final private case class Node(parents: Seq[ShardId], range: HashKeyRange)

  val Empty: ShardGraph = new ShardGraph(Map.empty, Set.empty)

  def of(shards: Seq[Shard]): ShardGraph = Empty.withListing(shards)
}
