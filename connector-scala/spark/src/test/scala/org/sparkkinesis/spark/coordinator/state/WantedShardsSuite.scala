package org.sparkkinesis.spark.coordinator.state

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.TimedSuite

class WantedShardsSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private def id(index: Int) = ShardId.ofIndex(index.toLong)

  private def shard(index: Int, range: HashKeyRange, parents: Int*) =
    Shard(id(index), parents.headOption.map(id), parents.lift(1).map(id), range, SequenceNumber("1"), None)

  /** Shard 0 was split into 1 and 2, shard 1 into 3 and 4; shards 4 and 2 were merged into 5. */
  private val lineage = {
    val halves = HashKeyRange.uniform(2)
    val quarters = HashKeyRange.uniform(4)
    ShardGraph.of(Seq(
      shard(0, HashKeyRange.Whole),
      shard(1, halves(0), 0),
      shard(2, halves(1), 0),
      shard(3, quarters(0), 1),
      shard(4, quarters(1), 1),
      shard(5, HashKeyRange(quarters(1).start, halves(1).end), 4, 2)
    ))
  }
  private val after: ShardPosition = After(SequenceNumber("7"), 0)

  private def wanted(offset: Map[Int, ShardPosition], ended: Set[Int], graph: ShardGraph = lineage): Set[Int] = {
    val positions = offset.map { case (i, position) => id(i) -> position }.to(SortedMap)
    val found = WantedShards.of(
      SourceOffset(Seq(StreamOffset("orders", arn, 1, positions))),
      _ => graph,
      shard => ended.exists(i => StreamShard(arn, id(i)) == shard)
    )
    assert(found.map(_._1).distinct.size == found.size, "no shard twice")
    found.map(_._1.shard.value.takeRight(4).toInt).toSet
  }

  // The offset, the shards that were fetched to the end, and the shards that must be read.
  Seq(
    ("an open shard", Map(0 -> Horizon), Set.empty[Int], Set(0)),
    ("a shard that was fetched to its end, and its children", Map(0 -> after), Set(0), Set(0, 1, 2)),
    ("grandchildren, when their parents were fetched to the end", Map(0 -> after), Set(0, 1), Set(0, 1, 2, 3, 4)),
    ("a merge's child only after both parents", Map(0 -> after), Set(0, 1, 2), Set(0, 1, 2, 3, 4)),
    ("a merge's child after both parents", Map(0 -> after), Set(0, 1, 2, 4), Set(0, 1, 2, 3, 4, 5)),
    ("the children of a shard that was planned to its end", Map(0 -> ShardEnd), Set.empty[Int], Set(1, 2)),
    ("only the child that is not in the offset yet", Map(0 -> ShardEnd, 1 -> after), Set.empty[Int], Set(1, 2)),
    ("only the unfinished leaves", Map(3 -> after, 5 -> after), Set.empty[Int], Set(3, 5)),
    ("a merge's child whose other parent was removed", Map(2 -> ShardEnd, 3 -> after), Set.empty[Int], Set(3, 5)),
    ("a merge's child only after the parent in the offset", Map(2 -> ShardEnd, 4 -> after), Set.empty[Int], Set(4)),
    ("a merge's child only after a parent's parent", Map(2 -> ShardEnd, 1 -> after), Set.empty[Int], Set(1)),
    ("a merge's child once its last parent was fetched to the end", Map(2 -> ShardEnd, 4 -> after), Set(4), Set(4, 5))
  ).foreach { case (name, offset, ended, expected) =>
    test(s"reads $name")(assert(wanted(offset, ended) == expected))
  }

  test("a lineage of a hundred splits and merges is followed with one visit per shard") {
    val halves = HashKeyRange.uniform(2)
    val graph = ShardGraph.of((0 to 100).flatMap { g =>
      val merged = 3 * g
      val parents = if (g == 0) Nil else Seq(merged - 2, merged - 1)
      Seq(
        shard(merged, HashKeyRange.Whole, parents: _*),
        shard(merged + 1, halves(0), merged),
        shard(merged + 2, halves(1), merged)
      )
    })
    assert(wanted(Map(299 -> ShardEnd), Set.empty, graph) == Set(300))
  }
}
