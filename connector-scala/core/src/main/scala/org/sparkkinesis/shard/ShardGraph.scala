package org.sparkkinesis.shard

import scala.collection.mutable

import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ChildShard, SequenceNumber, Shard, ShardId}

/**
 * The known parent-child relations of the shards of a stream. Immutable and pure.
 *
 * Parents may have expired and be unknown.
 *
 * @param omissions
 *   the parents of which only the names are known and which may not have expired, with the number of listings that have
 *   omitted them although they have their child. From [[ShardGraph.Omissions]] on, the parent has expired.
 * @param listings
 *   the number of listings that were added, at most [[ShardGraph.Omissions]]
 */
final class ShardGraph private (
    private val nodes: Map[ShardId, ShardGraph.Node],
    private val omissions: Map[ShardId, Int],
    private val listings: Int
) {

  /**
   * Parents of which only the names are known, and which may not have expired: one parent may report a child while the
   * split that created the other parent is not known yet. Listings resolve this, see [[withListing]].
   */
  val unconfirmed: Set[ShardId] = omissions.filter(_._2 < ShardGraph.Omissions).keySet

  private lazy val byParent: Map[ShardId, Seq[ShardId]] = nodes.toSeq
    .flatMap { case (child, node) => node.parents.map(_ -> child) }
    .groupMap(_._1)(_._2)
    .map { case (parent, children) => parent -> children.sorted }

  /** Used for each shard in every batch; most shards have no parents. */
  private lazy val withParents: Map[ShardId, Seq[ShardId]] = nodes.collect {
    case (child, node) if node.parents.nonEmpty => child -> node.parents
  }

  def parents(shard: ShardId): Seq[ShardId] = withParents.getOrElse(shard, Nil)
  def children(shard: ShardId): Seq[ShardId] = byParent.getOrElse(shard, Nil)

  /** Used for each shard in every batch. */
  private lazy val ranges: java.util.HashMap[String, Option[HashKeyRange]] = {
    val found = new java.util.HashMap[String, Option[HashKeyRange]](nodes.size * 2)
    nodes.foreachEntry { (shard, node) => found.put(shard.value, Some(node.range)); () }
    found
  }

  /** Returns the hash key range of a known shard. */
  def range(shard: ShardId): Option[HashKeyRange] = ranges.getOrDefault(shard.value, None)

  /**
   * Whether a shard is unknown and may exist, because one listing may lack a shard for a while. A shard that
   * [[ShardGraph.Omissions]] listings have omitted has expired.
   */
  def mayBeOmitted(shard: ShardId): Boolean = listings < ShardGraph.Omissions && range(shard).isEmpty

  /** Whether the known children cover the whole hash key range of the shard, so that no child is missing. */
  def hasAllChildren(shard: ShardId): Boolean = {
    val ranges = children(shard).flatMap(nodes.get).map(_.range)
    ranges.nonEmpty && nodes.get(shard).forall(node => HashKeyRange.gap(node.range, ranges).isEmpty)
  }

  /**
   * Returns whether a listed shard is not the known one of the same name: it begins elsewhere, its hash key range is
   * another one, or it lacks a parent. The stream may have been recreated.
   */
  def contradicts(listed: Seq[Shard]): Boolean = listed.exists { shard =>
    nodes.get(shard.id).exists { node =>
      node.range != shard.hashKeyRange || node.start.exists(_ != shard.startingSequenceNumber) ||
      !node.parents.forall(shard.parents.contains)
    }
  }

  /**
   * Returns whether the children that the end of a shard reported are not those of the known shards: one has another
   * hash key range, has none of the keys of a parent, or is the child of a shard and of its parent.
   */
  def contradictsChildren(children: Seq[ChildShard]): Boolean = children.exists { child =>
    range(child.id).exists(_ != child.hashKeyRange) ||
    child.parents.exists(range(_).exists(!_.overlaps(child.hashKeyRange))) ||
    child.parents.exists(parents(_).exists(child.parents.contains))
  }

  /** Adds the children that the end of a shard reported. */
  def withChildren(children: Seq[ChildShard]): ShardGraph =
    withNodes(
      news(children.map { child =>
        child.id -> ShardGraph.Node(child.parents, child.hashKeyRange, nodes.get(child.id).flatMap(_.start))
      }),
      children.flatMap(_.parents).map(_ -> 0).toMap ++ omissions,
      listings
    )

  /**
   * Adds the shards of a listing. Known shards remain, because a listing may omit a shard that its parent reported. A
   * parent that is not listed although its child is listed has expired. If only one parent of a merge is listed, the
   * other one stays unconfirmed, because both were closed at the same time. An unconfirmed parent has expired if
   * several listings omit it, because one listing may lack a shard for a while.
   */
  def withListing(shards: Seq[Shard]): ShardGraph = {
    val listed = shards.map { shard =>
      shard.id -> ShardGraph.Node(shard.parents, shard.hashKeyRange, Some(shard.startingSequenceNumber))
    }
    val (ids, found) = (listed.iterator.map(_._1).toSet, news(listed))
    val halfKnown = found.map(_._2.parents).filter(_.exists(parent => ids(parent) || nodes.contains(parent))).flatten
    val omitted = (listed.flatMap(_._2.parents).filter(omissions.contains) ++ halfKnown).distinct
      .map(parent => parent -> math.min(omissions.getOrElse(parent, 0) + 1, ShardGraph.Omissions)).toMap
    withNodes(found, omissions ++ omitted, math.min(listings + 1, ShardGraph.Omissions))
  }

  /** All shards that descend, directly or not, from one of `shards`. */
  def descendants(shards: Set[ShardId]): Set[ShardId] = reach(shards, children)

  def ancestors(shards: Set[ShardId]): Set[ShardId] = reach(shards, parents)

  /**
   * Whether the shard descends, or may descend, from a shard that satisfies `wanted`. It visits each ancestor once,
   * because the number of paths doubles with every split that is followed by a merge.
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

  private def withNodes(
      found: Seq[(ShardId, ShardGraph.Node)],
      named: Map[ShardId, Int],
      listings: Int
  ): ShardGraph = {
    val all = nodes ++ found
    val open = named.filterNot { case (parent, _) => all.contains(parent) }
    if (found.isEmpty && open == omissions && listings == this.listings) this else new ShardGraph(all, open, listings)
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

  /**
   * @param start
   *   the shard's starting sequence number, if it was listed
   */
  final private case class Node(parents: Seq[ShardId], range: HashKeyRange, start: Option[SequenceNumber])

  /** The number of listings that must omit a shard before it counts as expired. */
  val Omissions = 4

  val Empty: ShardGraph = new ShardGraph(Map.empty, Map.empty, 0)

  def of(shards: Seq[Shard]): ShardGraph = Empty.withListing(shards)
}
