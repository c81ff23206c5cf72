package org.sparkkinesis.emulator.engine.stream

import org.scalacheck.Gen

import org.sparkkinesis.emulator.engine.stream.{PlannedShard, ReshardPlan, Resharding}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.suite.PropertySuite

class ReshardingSuite extends PropertySuite {
  private def open(count: Int): Vector[PlannedShard] =
    HashKeyRange.uniform(count).zipWithIndex.map { case (range, i) => PlannedShard(i.toLong, range, Nil) }.toVector

  private def after(before: Seq[PlannedShard], plan: ReshardPlan): Seq[HashKeyRange] =
    (before ++ plan.created).filterNot(s => plan.closed(s.index)).map(_.range).sortBy(_.start)

  test("a split gives the lower half the lower index, and both halves the same parent") {
    val plan = Resharding.split(open(1).head, BigInt(1) << 127, nextIndex = 1)
    assert(plan.closed == Set(0L))
    assert(
      plan.created ==
        Vector(
          PlannedShard(1, HashKeyRange(0, (BigInt(1) << 127) - 1), Seq(0L)),
          PlannedShard(2, HashKeyRange(BigInt(1) << 127, HashKeyRange.Max), Seq(0L))
        )
    )
  }

  test("a merge names the first shard as parent and the second as adjacent parent") {
    val shards = open(2)
    val plan = Resharding.merge(shards(1), shards(0), nextIndex = 2)
    assert(plan.created == Vector(PlannedShard(2, HashKeyRange.Whole, Seq(1L, 0L))))
    assert(plan.closed == Set(0L, 1L))
  }

  test("doubling splits every shard once, without intermediate shards") {
    val plan = Resharding.uniform(open(4), 8, 4)
    assert(plan.created.size == 8)
    assert(plan.closed == Set(0L, 1L, 2L, 3L))
  }

  private val counts = for {
    from <- Gen.choose(1, 60)
    to <- Gen.choose((from + 1) / 2, from * 2)
  } yield (from, to)

  test("scaling ends with the uniform ranges of the target") {
    forAll(counts) { case (from, to) =>
      val shards = open(from)
      assert(after(shards, Resharding.uniform(shards, to, from.toLong)) == HashKeyRange.uniform(to))
    }
  }

  test("the range of every planned shard is covered by its parents") {
    forAll(counts) { case (from, to) =>
      val shards = open(from)
      val plan = Resharding.uniform(shards, to, from.toLong)
      val byIndex = (shards ++ plan.created).map(s => s.index -> s).toMap
      assert(
        plan.created.forall { made =>
          val parents = made.parents.map(byIndex(_).range)
          if (parents.size == 2) parents(0).union(parents(1)) == made.range && parents(0).isAdjacentTo(parents(1))
          else parents.head.contains(made.range.start) && parents.head.contains(made.range.end)
        }
      )
    }
  }
}
