package org.sparkkinesis.plan.realtime

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd, Start, Within}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.suite.TimedSuite

class RealTimeMergeSuite extends TimedSuite {
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def shard(index: Int) = StreamShard("orders", id(index))
  private def after(n: Int): ShardPosition = After(SequenceNumber(n.toString), 0)
  private def within(n: Int, sub: Long): ShardPosition = Within(SequenceNumber(n.toString), sub, 0)

  private def offset(shards: (Int, ShardPosition)*) =
    SourceOffset(Seq(StreamOffset("orders", "orders", 1, shards.map { case (i, p) => id(i) -> p }.to(SortedMap))))

  private def outcome(index: Int, position: ShardPosition, children: (Int, Seq[Int])*) = ShardOutcome(
    shard(index),
    position,
    0,
    None,
    None,
    children.map { case (i, parents) => ChildShard(id(i), parents.map(id), HashKeyRange.uniform(1).head) }
  )

  private def merge(start: SourceOffset, read: Seq[Int], outcomes: ShardOutcome*): MergedBatch =
    RealTimeMerge.merge(start, read.map(shard).toSet, outcomes)

  test("the end has the reported positions, and shards without a report stay at their start") {
    val merged = merge(offset(0 -> after(1), 1 -> after(1), 2 -> Horizon), Seq(0, 1), outcome(0, within(7, 3)))
    assert(merged.end == offset(0 -> within(7, 3), 1 -> after(1), 2 -> Horizon))
    assert(merged.silent == Set(shard(1)))
  }

  test("a shard that was finished stays in the end, also if it began in the batch") {
    val merged = merge(
      offset(0 -> after(1)),
      Seq(0),
      outcome(0, ShardEnd, 1 -> Seq(0), 2 -> Seq(0)),
      outcome(1, ShardEnd, 3 -> Seq(1)),
      outcome(2, after(5)),
      outcome(3, Horizon)
    )
    val expected = offset(0 -> ShardEnd, 1 -> ShardEnd, 2 -> after(5), 3 -> Horizon)
    assert(merged.end.streams("orders").shards == expected.streams("orders").shards)
  }

  test("of two reports of a shard the lower position counts") {
    Seq(
      (after(5), after(6)),
      (after(9), after(10)),
      (within(5, 9), after(5)),
      (after(4), within(5, 0)),
      (within(5, 1), within(5, 2)),
      (within(4, 7), within(5, 2)),
      (Horizon, after(1)),
      (after(9), ShardEnd)
    ).foreach { case (low, high) =>
      Seq(Seq(low, high), Seq(high, low)).foreach { both =>
        assert(merge(offset(0 -> Horizon), Seq(0), both.map(outcome(0, _)): _*).end == offset(0 -> low))
      }
    }
  }

  test("a child and its descendants do not count if one of two reports has not finished the parent") {
    val merged = merge(
      offset(0 -> after(1)),
      Seq(0),
      outcome(0, ShardEnd, 1 -> Seq(0)),
      outcome(1, ShardEnd, 2 -> Seq(1)),
      outcome(2, after(9)),
      outcome(0, after(3))
    )
    assert(merged.end == offset(0 -> after(3)))
  }

  test("a shard without further records has the time until which it was read") {
    val hour = 3600 * 1000L
    val idle = ShardOutcome(shard(0), after(1), 10 * hour, None, None, Nil)
    val After(_, until) = RealTimeMerge
      .merge(offset(0 -> after(1)), Set(shard(0)), Seq(idle)).end.streams("orders").shards(id(0)): @unchecked
    assert(until > 9 * hour && until < 10 * hour)
  }

  test("the end has the arrival times of the first rows of shards without the position of a record") {
    val from = Start(StartingPosition.AtTimestamp(5))
    val begun = ShardOutcome(shard(0), after(1), 0, Some(77), Some(78), Nil)
    val merged = RealTimeMerge.merge(offset(0 -> from), Set(shard(0)), Seq(begun)).end
    assert(merged.streams("orders").begun == SortedMap(id(0) -> 77L))
  }

  test("a position without a time has the time before which every record was handed over") {
    val (hour, margin) = (3600 * 1000L, 300 * 1000L)
    val AtNumber: ShardPosition = Start(StartingPosition.AtSequenceNumber(SequenceNumber("5")))
    val parent = outcome(0, ShardEnd, 2 -> Seq(0), 3 -> Seq(0)).copy(lastArrivalMillis = Some(7 * hour))
    val unread = outcome(1, AtNumber).copy(readUpToMillis = 8 * hour)
    val start = offset(0 -> after(1), 1 -> AtNumber)
    val merged =
      RealTimeMerge.merge(start, Set.empty, Seq(parent, unread, outcome(2, after(3)), outcome(3, Horizon))).end
    assert(
      merged.streams("orders").since ==
        SortedMap(id(0) -> 7 * hour, id(1) -> (8 * hour - margin), id(3) -> (7 * hour - margin))
    )
    assert(merged.isTimed)
  }

  test("the time of a finished shard is the last one at which it was open, if the shard's records are older") {
    val (hour, margin) = (3600 * 1000L, 300 * 1000L)
    val at = Start(StartingPosition.AtTimestamp(hour))
    val end = outcome(0, ShardEnd, 2 -> Seq(0))
    val last = end.copy(lastArrivalMillis = Some(7 * hour))
    Seq[(String, ShardPosition, ShardOutcome, Option[Long], Option[Long])](
      ("no listing", at, end, None, Some(hour)),
      ("no time at all", Horizon, end, None, None),
      ("later than the position", at, end, Some(9 * hour), Some(9 * hour - margin)),
      ("only the listing", Horizon, end, Some(9 * hour), Some(9 * hour - margin)),
      ("before the position", at, end, Some(hour / 2), Some(hour)),
      ("later than the last record", at, last, Some(9 * hour), Some(9 * hour - margin)),
      ("before the last record", at, last, Some(5 * hour), Some(7 * hour)),
      ("as old as the margin", Horizon, end, Some(margin / 2), Some(0L))
    ).foreach { case (name, position, ended, open, expected) =>
      val child = outcome(2, Horizon)
      def isClosed(one: StreamShard) = one == shard(0)
      val merged = RealTimeMerge
        .merge(offset(0 -> position), Set(shard(0)), Seq(ended, child), one => open.filter(_ => isClosed(one)))
        .end.streams("orders")
      assert(merged.since.get(id(0)) == expected, name)
      assert(merged.since.get(id(2)) == expected.map(time => math.max(0, time - margin)), name)
    }
  }

  test("a shard that is not finished has no time because it was open: its own records may be older") {
    val merged = RealTimeMerge.merge(offset(0 -> Horizon), Set(shard(0)), Seq(outcome(0, Horizon)), _ => Some(9))
    assert(merged.end.streams("orders").since.isEmpty)
  }
}
