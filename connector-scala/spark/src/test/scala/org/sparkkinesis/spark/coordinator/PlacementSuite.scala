package org.sparkkinesis.spark.coordinator

import org.scalacheck.Gen

import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.suite.PropertySuite

class PlacementSuite extends PropertySuite {
  private def shard(index: Int) = StreamShard("orders", ShardId.ofIndex(index.toLong))
  private def shards(count: Int) = (0 until count).map(shard)
  private def loads(placed: Map[StreamShard, String], executors: Seq[String]): Seq[Int] =
    executors.map(executor => placed.values.count(_ == executor))

  /** Repeats the placement until no shard moves. */
  private def settle(
      all: Seq[StreamShard],
      executors: Seq[String],
      current: Map[StreamShard, String]
  ): Iterator[Map[StreamShard, String]] = Iterator.iterate(current)(Placement.place(all, executors, _)).drop(1)

  private val situations = for {
    count <- Gen.choose(0, 60)
    before <- Gen.choose(1, 6)
    now <- Gen.choose(1, 6)
    owners <- Gen.listOfN(count, Gen.option(Gen.choose(1, before)))
  } yield {
    val current = owners.zipWithIndex.collect { case (Some(owner), i) => shard(i) -> s"e$owner" }.toMap
    (shards(count), (1 to now).map(i => s"e$i"), current)
  }

  test("every shard gets a living owner") {
    forAll(situations) { case (all, executors, current) =>
      val placed = Placement.place(all, executors, current)
      assert(placed.keySet == all.toSet && placed.values.forall(executors.contains))
    }
  }

  test("a living owner loses shards only for balance, and a limited number per round") {
    forAll(situations) { case (all, executors, current) =>
      val placed = Placement.place(all, executors, current)
      val moved = current.count { case (shard, owner) => executors.contains(owner) && placed(shard) != owner }
      assert(moved <= Placement.movesAtOnce(all.size))
    }
  }

  test("repeated rounds converge to loads that differ by at most one, and then change nothing") {
    forAll(situations) { case (all, executors, current) =>
      val settled = settle(all, executors, current).drop(10).next()
      val found = loads(settled, executors)
      assert(found.max - found.min <= 1 && Placement.place(all, executors, settled) == settled)
    }
  }

  test("without executors no shard is placed")(assert(
    Placement.place(shards(3), Nil, Map.empty) ==
      Map.empty[StreamShard, String]
  ))

  test("a child shard is placed with its parent's owner if there is room") {
    val current = Map(shard(0) -> "b", shard(1) -> "a")
    val placed = Placement.place(shards(4), Seq("a", "b"), current, s => Option.when(s == shard(2))("b"))
    assert(placed(shard(2)) == "b")
    assert(placed(shard(3)) == "a")
  }

  test("a child shard is placed elsewhere if its parent's owner is full or lost") {
    val full = Map(shard(0) -> "b", shard(1) -> "b")
    assert(Placement.place(shards(3), Seq("a", "b"), full, _ => Some("b"))(shard(2)) == "a")
    assert(Placement.place(shards(1), Seq("a"), Map.empty, _ => Some("gone"))(shard(0)) == "a")
  }

  test("an avoided executor has no shards of that stream but keeps shards of others") {
    val clicks = (0 until 4).map(i => StreamShard("clicks", ShardId.ofIndex(i.toLong)))
    val all = shards(8) ++ clicks
    val current = Placement.place(all, Seq("a", "b"), Map.empty)
    val avoided = Map("orders" -> Set("a")).withDefaultValue(Set.empty[String])
    val placed = Iterator.iterate(current)(Placement.place(all, Seq("a", "b"), _, avoided = avoided)).drop(3).next()
    assert(shards(8).forall(placed(_) == "b"))
    assert(clicks.forall(placed(_) == "a"))
  }

  test("avoidance is ignored when it concerns every executor") {
    val current = shards(4).zip(Seq("a", "b", "a", "b")).toMap
    assert(Placement.place(shards(4), Seq("a", "b"), current, avoided = _ => Set("a", "b")) == current)
  }

  test("a new executor gets its share in several rounds") {
    val all = shards(100)
    val current = all.map(_ -> "a").toMap
    val steps = settle(all, Seq("a", "b"), current).map(placed => loads(placed, Seq("b")).head).take(5).toSeq
    assert(steps == Seq(16, 32, 48, 50, 50))
  }

  test("with thousands of shards, a new executor has its share after a few dozen rounds") {
    val all = shards(10000)
    val current = all.zipWithIndex.map { case (shard, i) => shard -> s"e${i % 4}" }.toMap
    val executors = (0 to 4).map(i => s"e$i")
    val rounds = settle(all, executors, current).indexWhere(placed => loads(placed, executors).toSet == Set(2000))
    assert(rounds + 1 == 7)
  }
}
