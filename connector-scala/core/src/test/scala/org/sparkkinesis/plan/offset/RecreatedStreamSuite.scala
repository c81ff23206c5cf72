package org.sparkkinesis.plan.offset

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.StartingPosition.{AtSequenceNumber, AtTimestamp}
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd, Start}
import org.sparkkinesis.suite.TimedSuite

class RecreatedStreamSuite extends TimedSuite {
  private val Created = 10 * IdleTime.Margin
  private def id(index: Int): ShardId = ShardId.ofIndex(index.toLong)
  private def number(of: Int) = SequenceNumber(of.toString)

  private def shard(index: Int, range: HashKeyRange, parent: Option[Int] = None) =
    Shard(id(index), parent.map(id), None, range, number(50), None)
  private def closed(shard: Shard) = shard.copy(endingSequenceNumber = Some(number(99)))

  private val halves = HashKeyRange.uniform(2)
  private val quarters = HashKeyRange.uniform(4)
  private val two = Seq(shard(0, halves(0)), shard(1, halves(1)))

  /** Shard 0 was split into 1 and 2. */
  private val split =
    Seq(closed(shard(0, HashKeyRange.Whole)), shard(1, halves(0), Some(0)), shard(2, halves(1), Some(0)))

  /** Then shard 1 was split into 3 and 4. */
  private val splitTwice = Seq(split(0), closed(split(1)), split(2)) ++
    Seq(shard(3, quarters(0), Some(1)), shard(4, quarters(1), Some(1)))

  /**
   * @param old
   *   positions in the old stream's offset
   * @param expected
   *   positions in the new stream
   * @param since
   *   times of the old stream's offset
   * @param passed
   *   shards of which it is unknown whether they were read
   */
  private def testPositions(name: String, listed: Seq[Shard])(
      old: (Int, ShardPosition)*
  )(expected: (Int, ShardPosition)*)(since: Seq[(Int, Long)] = Nil, passed: Set[Int] = Set.empty): Unit =
    test(s"positions $name") {
      def sorted[A](of: Seq[(Int, A)]): SortedMap[ShardId, A] = of.map { case (i, one) => id(i) -> one }.to(SortedMap)
      val before =
        StreamOffset("orders", "arn", 1, sorted(old), since = sorted(since), phase = StreamPhase.Draining(5))
      val carried = RecreatedStream.of(before, "orders", Created, listed)
      val fresh = carried.offset
      assert(fresh.shards == sorted(expected) && fresh.creationMillis == Created && fresh.phase == before.phase)
      assert(carried.passed == passed.map(id) && carried.reached.subsetOf(fresh.shards.keySet))
      assert(fresh.since.keySet.subsetOf(fresh.shards.keySet))
      // No record of the new stream is older than the stream.
      assert(expected.collect { case (i, Horizon) => fresh.since.get(id(i)) }.forall(_.contains(Created)))
    }

  testPositions("of the old stream", two)(0 -> After(number(7), Created - 1))(0 -> Horizon, 1 -> Horizon)()

  testPositions("of the new stream", two)(0 -> After(number(60), Created))(
    0 -> After(number(60), Created),
    1 -> Horizon
  )()

  testPositions("of the old stream, with a later time, because the shard was idle", two)(
    0 -> After(number(7), 2 * Created)
  )(0 -> Horizon, 1 -> Horizon)()

  testPositions("at times", two)(
    0 -> Start(AtTimestamp(Created - 1)),
    1 -> Start(AtTimestamp(2 * Created))
  )(0 -> Horizon, 1 -> Horizon)()

  testPositions("at the end of shards", two.map(closed))(0 -> ShardEnd, 1 -> ShardEnd)(0 -> Horizon, 1 -> Horizon)(
    Seq(0 -> (Created - 1), 1 -> 2 * Created)
  )

  testPositions("at a sequence number", two)(0 -> Start(AtSequenceNumber(number(60))))(0 -> Horizon, 1 -> Horizon)(
    Seq(0 -> 2 * Created)
  )

  testPositions("in a child of the new stream whose parent is not in the offset", split)(
    1 -> After(number(60), Created)
  )(1 -> After(number(60), Created), 2 -> Horizon)(passed = Set(0))

  testPositions("in a child of the new stream whose parent has a position in the old one", split)(
    0 -> After(number(7), Created - 1),
    1 -> After(number(60), Created)
  )(0 -> Horizon, 1 -> After(number(60), Created), 2 -> Horizon)()

  testPositions("in a grandchild of the new stream whose parent is at its oldest record", splitTwice)(
    1 -> Horizon,
    3 -> After(number(60), Created)
  )(1 -> Horizon, 2 -> Horizon, 3 -> After(number(60), Created), 4 -> Horizon)(passed = Set(0))

  testPositions("in children without records", split)(1 -> Horizon, 2 -> Horizon)(0 -> Horizon)(
    Seq(1 -> 2 * Created, 2 -> 2 * Created)
  )

  testPositions("in a shard that the new stream lacks", two)(5 -> After(number(60), Created))(
    0 -> Horizon,
    1 -> Horizon
  )()
}
