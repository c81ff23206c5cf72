package org.sparkkinesis.shard

import scala.collection.immutable.ListMap

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.InitialShards
import org.sparkkinesis.suite.TimedSuite

class ShardGraphSuite extends TimedSuite {
  private def id(index: Int): ShardId = ShardId.ofIndex(index.toLong)
  private val (low, high) = (HashKeyRange.uniform(2)(0), HashKeyRange.uniform(2)(1))
  private def shard(index: Int, range: HashKeyRange, parents: Int*): Shard =
    Shard(id(index), parents.headOption.map(id), parents.drop(1).headOption.map(id), range, SequenceNumber("1"), None)

  /** Shard 0 was split into 1 and 2, which were merged into 3. */
  private val all =
    Seq(shard(0, HashKeyRange.Whole), shard(1, low, 0), shard(2, high, 0), shard(3, HashKeyRange.Whole, 1, 2))
  private val graph = ShardGraph.of(all)

  test("a graph has parents, children, ancestors and descendants") {
    assert(graph.children(id(0)) == Seq(id(1), id(2)))
    assert(graph.parents(id(3)) == Seq(id(1), id(2)))
    assert(graph.descendants(Set(id(0))) == Set(id(1), id(2), id(3)))
    assert(graph.ancestors(Set(id(3))) == Set(id(0), id(1), id(2)))
  }

  test("an unknown shard may exist until several listings have omitted it") {
    val listings = Seq.iterate(ShardGraph.Empty, ShardGraph.Omissions + 1)(_.withListing(all))
    assert(listings.map(_.mayBeOmitted(id(9))) == Seq.fill(ShardGraph.Omissions)(true) :+ false)
    assert(listings.map(_.mayBeOmitted(id(1))) == true +: Seq.fill(ShardGraph.Omissions)(false))
    val reported = listings(1).withChildren(Seq(ChildShard(id(4), Seq(id(3)), low)))
    assert(!reported.mayBeOmitted(id(4)) && reported.mayBeOmitted(id(9)))
  }

  test("listings in any order, with duplicates and gaps, give the same graph") {
    val pieces = Seq(all.reverse.take(2), all.take(1) ++ all.take(1), all.slice(1, 3))
    val added = pieces.foldLeft(ShardGraph.Empty)(_.withListing(_))
    all.foreach { shard =>
      assert(added.parents(shard.id) == graph.parents(shard.id))
      assert(added.children(shard.id) == graph.children(shard.id))
    }
  }

  Seq[(String, Seq[Shard], Boolean)](
    ("the same shards", all, false),
    ("a part of them, and a new one", Seq(all(3), shard(4, low, 3)), false),
    ("a second parent", Seq(shard(1, low, 0, 9)), false),
    ("another hash key range", Seq(shard(2, low, 0)), true),
    ("no parents", Seq(shard(1, low)), true),
    ("another starting sequence number", Seq(shard(1, low, 0).copy(startingSequenceNumber = SequenceNumber("2"))), true)
  ).foreach { case (name, listed, expected) =>
    test(s"a listing contradicts the graph: $name")(assert(graph.contradicts(listed) == expected))
  }

  test("a listing does not contradict a shard that only the end of its parent has shown") {
    val unlisted = ShardGraph.of(all.take(1)).withChildren(Seq(ChildShard(id(1), Seq(id(0)), low)))
    val listed = Seq(shard(1, low, 0))
    assert(!unlisted.contradicts(listed))
    val known = unlisted.withListing(listed).withChildren(Seq(ChildShard(id(1), Seq(id(0)), low)))
    assert(known.contradicts(listed.map(_.copy(startingSequenceNumber = SequenceNumber("2")))))
  }

  Seq[(String, ChildShard, Boolean)](
    ("of a split", ChildShard(id(4), Seq(id(3)), low), false),
    ("of a merge with an unknown shard", ChildShard(id(4), Seq(id(1), id(9)), HashKeyRange.Whole), false),
    ("that is known, with another hash key range", ChildShard(id(3), Seq(id(1)), low), true),
    ("without a key of its parent", ChildShard(id(4), Seq(id(1)), high), true),
    ("of a shard and its parent", ChildShard(id(4), Seq(id(0), id(1)), HashKeyRange.Whole), true)
  ).foreach { case (name, child, expected) =>
    test(s"the end of a shard contradicts the graph: a child $name") {
      assert(graph.contradictsChildren(Seq(child)) == expected)
    }
  }

  test("children are complete if they cover the keys of their parent") {
    assert(graph.hasAllChildren(id(0)))
    assert(graph.hasAllChildren(id(1)))
    assert(!graph.hasAllChildren(id(3)))
    assert(!ShardGraph.of(all.take(2)).hasAllChildren(id(0)))
    assert(ShardGraph.of(all.take(1)).withChildren(Seq(
      ChildShard(id(1), Seq(id(0)), low),
      ChildShard(id(2), Seq(id(0)), high)
    )).hasAllChildren(id(0)))
  }

  private val child = ChildShard(id(3), Seq(1, 2).map(id), HashKeyRange.Whole)

  // The graph before, the report or listing that is added, and the unconfirmed parents afterwards.
  Seq[(String, ShardGraph, ShardGraph => ShardGraph, Set[Int])](
    ("an unknown parent", ShardGraph.of(all.slice(1, 2)), _.withChildren(Seq(child)), Set(2)),
    ("no known parent", ShardGraph.of(all.take(3)), _.withChildren(Seq(child)), Set.empty),
    (
      "both parents, if they seemed expired and one of them is read nevertheless",
      ShardGraph.of(all.slice(3, 4)),
      _.withChildren(Seq(child)),
      Set(1, 2)
    ),
    ("no parent that a listing has", toldOf(child), _.withListing(all), Set.empty),
    ("a parent that a listing with its child omits", toldOf(child), _.withListing(all.slice(3, 4)), Set(2)),
    ("no parent that four listings omit", toldOf(child), listings(4, all.slice(3, 4)), Set.empty),
    (
      "no parent that four listings omit, also if its child is reported again",
      toldOf(child),
      listings(4, all.slice(3, 4)).andThen(_.withChildren(Seq(child))),
      Set.empty
    ),
    (
      "no parent that has expired, also if a later listing has it",
      toldOf(child),
      listings(4, all.slice(3, 4)).andThen(_.withListing(all)),
      Set.empty
    ),
    ("a parent that a listing from before its child omits", toldOf(child), _.withListing(all.take(2)), Set(2)),
    (
      "a parent that a listing omits while it has the other one",
      ShardGraph.Empty,
      _.withListing(Seq(all(1), all(3))),
      Set(2)
    ),
    (
      "a parent that three listings omit while they have the other one",
      ShardGraph.Empty,
      listings(3, Seq(all(1), all(3))),
      Set(2)
    ),
    (
      "no parent that four listings omit while they have the other one",
      ShardGraph.Empty,
      listings(4, Seq(all(1), all(3))),
      Set.empty
    ),
    (
      "a parent that listings from before its child omit",
      toldOf(child),
      listings(9, all.take(2)),
      Set(2)
    ),
    ("no parents that have both expired", ShardGraph.Empty, _.withListing(all.drop(3)), Set.empty)
  ).foreach { case (name, before, told, unconfirmed) =>
    test(s"unconfirmed: $name") {
      val after = told(before)
      assert(after.unconfirmed == unconfirmed.map(id))
      assert(after.mayDescend(id(3))(_ => false) == unconfirmed.nonEmpty)
    }
  }

  test("a graph is the same one after a listing without news, also if a parent has expired") {
    val expired = listings(ShardGraph.Omissions, all.slice(3, 4))(toldOf(child))
    assert(expired.withListing(all.slice(3, 4)) eq expired)
    assert(expired.withChildren(Seq(child)) eq expired)
  }

  private def listings(times: Int, listed: Seq[Shard]): ShardGraph => ShardGraph =
    Function.chain(Seq.fill(times)((graph: ShardGraph) => graph.withListing(listed)))

  private def toldOf(child: ChildShard): ShardGraph = ShardGraph.of(all.slice(1, 2)).withChildren(Seq(child))

  test("a listing is complete if its open shards cover all keys") {
    def closed(shard: Shard) = shard.copy(endingSequenceNumber = Some(SequenceNumber("2")))
    val (q, last) = (HashKeyRange.uniform(4), HashKeyRange.Max)
    Seq[(Seq[Shard], Option[HashKeyRange])](
      (Seq(closed(all(0)), all(1), all(2)), None),
      (Seq(all(1)), Some(high)),
      (Seq(all(2)), Some(low)),
      (Seq(closed(all(0))), Some(HashKeyRange.Whole)),
      (Nil, Some(HashKeyRange.Whole)),
      (Seq(shard(1, q(0)), shard(2, q(3))), Some(HashKeyRange(q(1).start, q(2).end))),
      (Seq(shard(2, HashKeyRange(1, last))), Some(HashKeyRange(0, 0))),
      // Shards from before and after a merge were listed.
      (Seq(all(1), all(3)), None)
    ).foreach { case (listed, gap) => assert(ShardListing.uncovered(listed) == gap, listed.map(_.id).toString) }
  }

  private val T = AtTimestamp(5)
  private val initial = Seq(
    ("the oldest shards, from TRIM_HORIZON", PositionOption(TrimHorizon), all, Map(0 -> TrimHorizon)),
    (
      "the children of an expired parent",
      PositionOption(TrimHorizon),
      all.drop(1),
      Map(1 -> TrimHorizon, 2 -> TrimHorizon)
    ),
    ("from a time, the shards that were open at that time", PositionOption(T), all.drop(3), Map(3 -> T)),
    ("a named shard instead of its ancestors", PositionOption(TrimHorizon, ListMap(id(3) -> T)), all, Map(3 -> T)),
    (
      "a named shard and its siblings",
      PositionOption(T, ListMap(id(1) -> TrimHorizon)),
      all.take(3),
      Map(1 -> TrimHorizon, 2 -> T)
    ),
    (
      "both a named ancestor and a named descendant",
      PositionOption(T, ListMap(id(0) -> TrimHorizon, id(1) -> T)),
      all,
      Map(0 -> TrimHorizon, 1 -> T)
    )
  )
  initial.foreach { case (name, position, listed, expected) =>
    test(s"initial shards: $name") {
      val chosen = InitialShards.choose(
        "orders",
        position,
        listed,
        if (listed.size < 4 && position.shards.isEmpty) listed else all
      )
      assert(
        chosen.map { case (shard, at) => shard -> at.resumeAt.get }.toMap ==
          expected.map { case (i, p) => id(i) -> (p: StartingPosition) }
      )
    }
  }

  test("a position for a shard that does not exist is rejected") {
    val error = intercept[KinesisConnectorException](InitialShards.choose(
      "orders",
      PositionOption(TrimHorizon, ListMap(id(9) -> T)),
      all,
      all
    ))
    assert(error.condition == "KINESIS_SHARD_UNKNOWN")
  }
}
