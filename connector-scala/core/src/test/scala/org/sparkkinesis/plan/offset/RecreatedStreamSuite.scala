package org.sparkkinesis.plan.offset

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.StartingPosition.{AtSequenceNumber, AtTimestamp}
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd, Start}
import org.sparkkinesis.suite.TimedSuite

class RecreatedStreamSuite extends TimedSuite {
  private val Created = 1000L
  private def id(index: Int): ShardId = ShardId.ofIndex(index.toLong)
  private def number(of: Int) = SequenceNumber(of.toString)

  private def shard(index: Int, range: HashKeyRange, parent: Option[Int] = None) =
    Shard(id(index), parent.map(id), None, range, number(50), None)

  private val halves = HashKeyRange.uniform(2)
  private val two = Seq(shard(0, halves(0)), shard(1, halves(1)))

  /** Shard 0 was split into 1 and 2. */
  private val split = Seq(shard(0, HashKeyRange.Whole), shard(1, halves(0), Some(0)), shard(2, halves(1), Some(0)))

  Seq[(String, Seq[Shard], Seq[(Int, ShardPosition)], Seq[(Int, Long)], Seq[(Int, ShardPosition)])](
    ("of the old stream", two, Seq(0 -> After(number(7), 999)), Nil, Seq(0 -> Horizon, 1 -> Horizon)),
    ("of the new stream", two, Seq(0 -> After(number(60), 1000)), Nil, Seq(0 -> After(number(60), 1000), 1 -> Horizon)),
    (
      "of the old stream, with a later time, because the shard was idle",
      two,
      Seq(0 -> After(number(7), 2000)),
      Nil,
      Seq(0 -> Horizon, 1 -> Horizon)
    ),
    (
      "at a time before and after the creation",
      two,
      Seq(0 -> Start(AtTimestamp(999)), 1 -> Start(AtTimestamp(1000))),
      Nil,
      Seq(0 -> Horizon, 1 -> Start(AtTimestamp(1000)))
    ),
    (
      "at the end of a shard of the old and of the new stream",
      two,
      Seq(0 -> ShardEnd, 1 -> ShardEnd),
      Seq(0 -> 999L, 1 -> 1000L),
      Seq(0 -> Horizon, 1 -> ShardEnd)
    ),
    ("at the end of a shard, without a time", two, Seq(0 -> ShardEnd), Nil, Seq(0 -> Horizon, 1 -> Horizon)),
    (
      "at a sequence number",
      two,
      Seq(0 -> Start(AtSequenceNumber(number(60)))),
      Seq(0 -> 2000L),
      Seq(0 -> Horizon, 1 -> Horizon)
    ),
    (
      "in a child of the new stream, whose parent was finished",
      split,
      Seq(1 -> After(number(60), 1000)),
      Nil,
      Seq(1 -> After(number(60), 1000), 2 -> Horizon)
    ),
    (
      "in a shard that the new stream lacks",
      two,
      Seq(5 -> After(number(60), 1000)),
      Nil,
      Seq(0 -> Horizon, 1 -> Horizon)
    )
  ).foreach { case (name, listed, positions, since, expected) =>
    test(s"positions $name") {
      def sorted[A](of: Seq[(Int, A)]): SortedMap[ShardId, A] = of.map { case (i, one) => id(i) -> one }.to(SortedMap)
      val old = StreamOffset("orders", "arn", 1, sorted(positions), since = sorted(since))
      val fresh = RecreatedStream.offset(old, "orders", Created, listed)
      assert(fresh.shards == sorted(expected) && fresh.creationMillis == Created)
      assert(fresh.since.keySet.subsetOf(fresh.shards.keySet))
      // No record of the new stream is older than the stream.
      assert(expected.collect { case (i, Horizon) => fresh.since.get(id(i)) }.forall(_.contains(Created)))
    }
  }
}
