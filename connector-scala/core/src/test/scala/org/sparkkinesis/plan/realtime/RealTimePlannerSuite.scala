package org.sparkkinesis.plan.realtime

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.ShardPosition.{Horizon, ShardEnd}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.TimedSuite

class RealTimePlannerSuite extends TimedSuite {
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def shard(index: Int, stream: String = "orders") = StreamShard(stream, id(index))
  private def number(live: LiveShard): Int = live.shard.shard.value.takeRight(5).toInt

  /** Shards of equal ranges; the names of the shards have the opposite order of the ranges. */
  private def uniform(count: Int, stream: String = "orders"): Vector[LiveShard] =
    Option.when(count > 0)(HashKeyRange.uniform(count)).toVector.flatten.zipWithIndex.map { case (range, i) =>
      LiveShard(shard(count - 1 - i, stream), stream, Horizon, Some(range))
    }

  Seq(
    (0, 4, None, 1),
    (1, 4, None, 1),
    (4, 4, None, 4),
    (9, 4, None, 4),
    (9, 4, Some(3), 3),
    (9, 2, Some(1), 9),
    (0, 2, Some(1), 1)
  ).foreach { case (shards, slots, perTask, tasks) =>
    test(s"$shards shards on $slots slots, $perTask per task, need $tasks tasks") {
      assert(RealTimePlanner.taskCount(shards, slots, perTask) == tasks)
    }
  }

  test("tasks have neighboring hash key ranges, and their sizes differ by at most one") {
    for (count <- Seq(0, 1, 3, 7, 64, 1000); tasks <- Seq(1, 2, 3, 7, 60)) {
      val runs = RealTimePlanner.runs(uniform(count).sortBy(_.shard.shard), tasks)
      assert(runs.size == tasks)
      assert(runs.flatten == uniform(count))
      assert(runs.map(_.size).max - runs.map(_.size).min <= 1)
    }
  }

  test("shards of different streams are not mixed") {
    val runs = RealTimePlanner.runs(uniform(3, "b") ++ uniform(3, "a"), 2)
    assert(runs.map(_.map(_.stream).distinct) == Vector(Vector("a"), Vector("b")))
  }

  test("10,000 shards are divided quickly") {
    val shards = uniform(10000)
    RealTimePlanner.runs(shards, 64)
    val nanos = (1 to 5).map { _ =>
      val began = System.nanoTime
      RealTimePlanner.runs(shards, 64)
      System.nanoTime - began
    }
    assert(nanos.min < 200000000L)
  }

  private def offset(shards: (Int, ShardPosition)*) =
    SourceOffset(Seq(StreamOffset("orders", "orders", 1, shards.map { case (i, p) => id(i) -> p }.to(SortedMap))))

  /** Shard 2 is the child of 0 and 1; 3 and 4 are the children of 2. */
  private val graph = {
    val whole = HashKeyRange.uniform(1).head
    val Seq(low, high) = HashKeyRange.uniform(2): @unchecked
    def listed(index: Int, range: HashKeyRange, parents: Int*) = Shard(
      id(index),
      parents.headOption.map(id),
      parents.lift(1).map(id),
      range,
      SequenceNumber("1"),
      None
    )
    ShardGraph.of(Seq(
      listed(0, low),
      listed(1, high),
      listed(2, whole, 0, 1),
      listed(3, low, 2),
      listed(4, high, 2)
    ))
  }

  Seq(
    (Seq(0 -> Horizon, 1 -> Horizon), Seq(0, 1), Nil, Nil),
    (Seq(0 -> ShardEnd, 1 -> Horizon), Seq(1), Seq(0), Nil),
    (Seq(0 -> ShardEnd, 1 -> Horizon, 2 -> Horizon), Seq(1), Seq(0), Seq(2)),
    (Seq(0 -> ShardEnd, 1 -> ShardEnd, 2 -> Horizon), Seq(2), Seq(0, 1), Nil),
    (Seq(1 -> Horizon, 3 -> Horizon, 4 -> Horizon), Seq(1), Nil, Seq(3, 4)),
    (Seq(3 -> Horizon, 4 -> ShardEnd), Seq(3), Seq(4), Nil)
  ).foreach { case (at, readable, finished, heldBack) =>
    test(s"of the shards ${at.mkString(", ")}, ${readable.mkString(" and ")} can be read") {
      val shards = RealTimePlanner.shards(offset(at: _*), _ => graph)
      assert(shards.readable.map(number) == readable)
      assert(shards.finished == finished.map(shard(_)).toSet)
      assert(shards.heldBack == heldBack.map(shard(_)).toSet)
    }
  }

  private def child(index: Int, parents: Int*) = ChildShard(id(index), parents.map(id), HashKeyRange.uniform(1).head)

  test("a child is read in the batch after all its parents were finished by the same task") {
    val lineage = new TaskLineage(Set.empty, BatchShards.Empty)
    assert(lineage.finish(shard(0), Seq(child(2, 0, 1))) == Nil)
    assert(lineage.finish(shard(1), Seq(child(2, 0, 1))).map(_.id) == Seq(id(2)))
    assert(lineage.finish(shard(2), Seq(child(3), child(4))).map(_.id) == Seq(id(3), id(4)))
  }

  test("a parent that was finished before the batch does not hold its child back") {
    val lineage = new TaskLineage(Set(shard(0)), BatchShards.Empty)
    assert(lineage.finish(shard(1), Seq(child(2, 0, 1))).map(_.id) == Seq(id(2)))
  }

  test("a child that the start of the batch contains is not begun") {
    val lineage = new TaskLineage(Set.empty, BatchShards.of(Set(shard(3))))
    val children = Seq(child(3, 2), child(4, 2))
    assert(lineage.finish(shard(2), children).map(_.id) == Seq(id(4)))
    // It does not wait for the next batch either.
    assert(lineage.waiting(shard(2), children) == Nil)
  }

  test("the shards of a batch are found by their streams and names, with and without an index") {
    val odd = StreamShard("orders", ShardId("left"))
    val all = BatchShards.of(Seq(shard(7), shard(3), StreamShard("payments", id(5)), odd))
    assert(Seq(shard(3), shard(7), StreamShard("payments", id(5)), odd).forall(all.contains))
    assert(!Seq(
      shard(5),
      StreamShard("payments", id(3)),
      StreamShard("payments", ShardId("left"))
    ).exists(all.contains))
    val copy = new java.io.ByteArrayOutputStream
    new java.io.ObjectOutputStream(copy).writeObject(BatchShards.of((0 until 1000).map(shard(_))))
    assert(copy.size < 10000)
  }
}
