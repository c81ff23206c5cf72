package org.sparkkinesis.spark.coordinator.state

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, Shard, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition.{After, ShardEnd}
import org.sparkkinesis.plan.offset.{LostLineage, ShardPosition, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.TimedSuite

/** Tests how the descendants of shards are found that were given up while the query was running. */
class GivenUpShardsSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private val halves = HashKeyRange.uniform(2)
  private val reading = After(SequenceNumber("7"), 5000)
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def shard(index: Int, range: HashKeyRange, parents: Int*) =
    Shard(id(index), parents.headOption.map(id), parents.lift(1).map(id), range, SequenceNumber("1"), None)

  /** Shard 0 was split into 1 and 2, and both of them were replaced by 3 and 4. */
  private val (root, left, right) =
    (shard(0, HashKeyRange.Whole), shard(3, halves(0), 1), shard(4, halves(1), 2))
  private val known = ShardGraph.of(Seq(root))

  private def offset(shards: (Int, ShardPosition)*): StreamOffset =
    StreamOffset("orders", arn, 1, shards.map { case (index, position) => id(index) -> position }.to(SortedMap))

  /** Returns what is found after these listings, which follow the end of shard 0. */
  private def found(at: StreamOffset, graph: ShardGraph, listings: Seq[Shard]*): Option[LostLineage] = {
    val givenUp = new GivenUpShards
    givenUp.list(arn, Seq(root))
    givenUp.add(StreamShard(arn, id(0)))
    listings.foreach { listed =>
      assert(givenUp.streamsToList(_ => graph) == Set(arn))
      givenUp.list(arn, listed)
    }
    if (listings.size >= ShardGraph.Omissions) assert(givenUp.streamsToList(_ => graph).isEmpty)
    givenUp.lostLineage(at, graph)
  }

  private def full(listed: Seq[Shard]*): Seq[Seq[Shard]] = listed.padTo(ShardGraph.Omissions, listed.last)

  test("the remaining descendants are found in several listings, each of which may lack a shard") {
    val lost = LostLineage(finished = Set(id(0)), unread = Set.empty, orphans = Set(id(3), id(4)))
    assert(found(offset(0 -> ShardEnd), known, full(Seq(left), Seq(right)): _*).contains(lost))
    assert(found(offset(0 -> ShardEnd), known, Seq(left, right)).isEmpty, "one listing is not sufficient")
  }

  test("nothing is changed while a shard that is not listed may still have records") {
    val both = Seq(left, right)
    assert(found(offset(0 -> reading), known, full(both): _*).isEmpty)
    assert(found(offset(0 -> ShardEnd, 9 -> reading), known, full(both): _*).isEmpty)
    assert(found(offset(0 -> ShardEnd), known, full(Nil): _*).isEmpty, "no shard is left")
  }

  test("shards that descend from a shard of the offset are read after it") {
    val sibling = shard(9, halves(1))
    val graph = known.withListing(Seq(sibling, shard(10, halves(1), 9), shard(11, halves(1), 10)))
    // The listing lacks shard 10.
    val listed = Seq(left, sibling, shard(11, halves(1), 10))
    val lost = LostLineage(finished = Set(id(0)), unread = Set.empty, orphans = Set(id(3)))
    assert(found(offset(0 -> ShardEnd, 9 -> reading), graph, full(listed): _*).contains(lost))
  }

  test("parents of a shard of the offset were read before it, also if listings are older than their merge") {
    val graph = known.withListing(Seq(left, right, shard(5, HashKeyRange.Whole, 3, 4)))
    assert(found(offset(0 -> ShardEnd, 5 -> ShardEnd), graph, full(Seq(left, right)): _*).isEmpty)
  }

  test("a shard whose children are all known, and one that has left the offset, need no listing") {
    val linked = ShardGraph.of(Seq(root, shard(1, halves(0), 0), shard(2, halves(1), 0)))
    val givenUp = new GivenUpShards
    givenUp.add(StreamShard(arn, id(0)))
    assert(givenUp.streamsToList(_ => known) == Set(arn) && givenUp.streamsToList(_ => linked).isEmpty)
    givenUp.remove(Seq(StreamShard(arn, id(0))))
    assert(givenUp.isEmpty && givenUp.streamsToList(_ => known).isEmpty)
    full(Seq(left, right)).foreach(givenUp.list(arn, _))
    assert(givenUp.lostLineage(offset(0 -> ShardEnd), known).isEmpty)
  }

  test("listings before another shard is given up do not count") {
    val givenUp = new GivenUpShards
    givenUp.add(StreamShard(arn, id(0)))
    full(Seq(left, right)).foreach(givenUp.list(arn, _))
    givenUp.add(StreamShard(arn, id(3)))
    assert(givenUp.streamsToList(_ => known) == Set(arn))
    assert(givenUp.lostLineage(offset(0 -> ShardEnd), known).isEmpty)
  }
}
