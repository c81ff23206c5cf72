package org.sparkkinesis.plan.offset

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd}
import org.sparkkinesis.suite.TimedSuite

class LostLineageSuite extends TimedSuite {
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def at(shards: (Int, ShardPosition)*): StreamOffset =
    StreamOffset("orders", "arn", 1, shards.map { case (index, position) => id(index) -> position }.to(SortedMap))
  private def shard(index: Int, parents: Int*): Shard = {
    val ids = parents.map(id)
    Shard(id(index), ids.headOption, ids.lift(1), HashKeyRange.Whole, SequenceNumber("1"), None)
  }
  private val read = After(SequenceNumber("7"), 0)

  Seq[(String, StreamOffset, Seq[Shard], Option[LostLineage])](
    ("the offset's shard is listed", at(0 -> read), Seq(shard(0)), None),
    ("its children are listed", at(0 -> ShardEnd), Seq(shard(1, 0), shard(2, 0)), None),
    ("ancestors that were read before are still listed", at(2 -> read), Seq(shard(0), shard(1), shard(2, 0, 1)), None),
    (
      "a generation in between has expired",
      at(0 -> ShardEnd),
      Seq(shard(3, 1), shard(4, 2)),
      Some(LostLineage(Set(id(0)), Set.empty, Set(id(3), id(4))))
    ),
    (
      "the descendants of one child only are linked",
      at(0 -> ShardEnd),
      Seq(shard(1, 0), shard(3, 2)),
      Some(LostLineage(Set.empty, Set.empty, Set(id(3))))
    ),
    (
      "of several orphans of one line only the oldest begins",
      at(0 -> read),
      Seq(shard(3, 1), shard(5, 3)),
      Some(LostLineage(Set.empty, Set(id(0)), Set(id(3))))
    ),
    (
      "other lines go on",
      at(0 -> read, 9 -> read),
      Seq(shard(9), shard(3, 1)),
      Some(LostLineage(Set.empty, Set(id(0)), Set(id(3))))
    ),
    (
      "the child of finished shards has expired, and was merged with another shard of the offset",
      at(0 -> read, 1 -> ShardEnd, 2 -> ShardEnd),
      Seq(shard(5, 0, 4)),
      Some(LostLineage(Set(id(1), id(2)), Set.empty, Set.empty, Set(id(5))))
    ),
    (
      "the listing lacks one of the children of a shard, which were merged",
      at(0 -> ShardEnd),
      Seq(shard(1, 0), shard(3, 1, 2)),
      None
    ),
    ("a merged shard of the offset had a parent that has expired", at(5 -> read), Seq(shard(0), shard(5, 0, 4)), None),
    ("a child of a merged shard of the offset", at(5 -> read), Seq(shard(5, 0, 4), shard(6, 5), shard(7, 6)), None)
  ).foreach { case (name, offset, listed, expected) => test(name)(assert(LostLineage.of(offset, listed) == expected)) }

  test("missing shards are replaced by the remaining ones, from their oldest record on") {
    val old = at(0 -> ShardEnd, 9 -> read).copy(begun = SortedMap(id(0) -> 5L), since = SortedMap(id(0) -> 6L))
    val mended = LostLineage(Set(id(0)), Set.empty, Set(id(3), id(4))).mend(old, sinceMillis = 7)
    val since = SortedMap(id(3) -> 7L, id(4) -> 7L)
    assert(mended == at(3 -> Horizon, 4 -> Horizon, 9 -> read).copy(since = since))
  }

  test("an expired finished shard is no loss if its descendants are in the offset") {
    val lineage = LostLineage.of(at(0 -> ShardEnd, 3 -> read), Seq(shard(3, 1)))
    assert(lineage.contains(LostLineage(Set(id(0)), Set.empty, Set.empty)))
    assert(!lineage.exists(_.isLoss))
    val merged = LostLineage.of(at(1 -> ShardEnd, 0 -> read), Seq(shard(5, 0, 4)))
    assert(merged.exists(_.isLoss) && merged.exists(_.left == Set(id(5))))
  }
}
