package org.sparkkinesis.plan.offset

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd, Start}
import org.sparkkinesis.suite.TimedSuite

class RetentionSuite extends TimedSuite {
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private val number = SequenceNumber("7")
  private def at(begun: (Int, Long)*)(shards: (Int, ShardPosition)*): StreamOffset = StreamOffset(
    "orders",
    "arn",
    1,
    shards.map { case (index, position) => id(index) -> position }.to(SortedMap),
    begun.map { case (index, millis) => id(index) -> millis }.to(SortedMap)
  )
  private val oldest = 1000L

  Seq[(String, ShardPosition, Option[Long])](
    ("a record that is still there", After(number, 1000), None),
    ("a record that has expired", After(number, 999), Some(999)),
    ("a time that is still there", Start(StartingPosition.AtTimestamp(1000)), None),
    ("a time that has expired", Start(StartingPosition.AtTimestamp(999)), Some(999)),
    ("the oldest record", Horizon, None),
    ("the shard's end", ShardEnd, None)
  ).foreach { case (name, position, expected) =>
    test(s"a position at $name") {
      assert(Retention.lost(at()(0 -> position), oldest) == expected.map(id(0) -> _).toSeq)
    }
  }

  test("a position without a time is as old as the time that the offset has for it") {
    val stream = at()(0 -> Start(StartingPosition.AtSequenceNumber(number)), 1 -> Horizon, 2 -> ShardEnd)
    val since = SortedMap(id(0) -> 999L, id(1) -> 1000L, id(2) -> 5L)
    assert(Retention.lost(stream.copy(since = since), oldest) == Seq(id(0) -> 999L))
  }

  Seq[(String, StreamOffset, StreamOffset, Set[Int], Seq[(Int, Long)])](
    ("begins after an expired record", at()(0 -> After(number, 5)), at()(0 -> ShardEnd), Set(0), Seq(0 -> 5L)),
    ("does not read the shard", at()(0 -> After(number, 5)), at()(0 -> ShardEnd), Set.empty, Nil),
    ("began with a record that has expired", at()(0 -> Horizon), at(0 -> 5L)(0 -> ShardEnd), Set(0), Seq(0 -> 5L)),
    ("began with a record that is there", at()(0 -> Horizon), at(0 -> 2000L)(0 -> ShardEnd), Set(0), Nil),
    (
      "has an old beginning and a first record that is there",
      at()(0 -> Start(StartingPosition.AtTimestamp(5))),
      at(0 -> 2000L)(0 -> ShardEnd),
      Set(0),
      Nil
    )
  ).foreach { case (name, start, end, read, expected) =>
    test(s"a batch that $name") {
      val lost = Retention.lostOfBatch(Some(start), end, read.map(id), oldest)
      assert(lost == expected.map { case (index, millis) => id(index) -> millis })
    }
  }

  test("a batch with which the stream joined began with a record that has expired") {
    val end = at(0 -> 5L, 1 -> 2000L)(0 -> ShardEnd, 1 -> After(number, 3000))
    assert(Retention.lostOfBatch(None, end, Set(id(0), id(1)), oldest) == Seq(id(0) -> 5L))
  }
}
