package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model.StartingPosition.{AfterSequenceNumber, TrimHorizon}
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd, Within}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.suite.TimedSuite
class TaskPlannerSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def shard(index: Int) = StreamShard(arn, id(index))
  private def number(value: Int) = SequenceNumber(value.toString)
  private def after(value: Int): ShardPosition = After(number(value), 0)
  private def offset(shards: (Int, ShardPosition)*) =
    SourceOffset(Seq(StreamOffset("orders", arn, 1, shards.map { case (i, p) => id(i) -> p }.to(SortedMap))))

  private def ranges(
      start: SourceOffset,
      end: SourceOffset,
      finished: Map[Int, Option[Int]] = Map.empty
  ): Seq[(Int, StartingPosition, RangeEnd)] = TaskPlanner
    .ranges(
      start,
      end,
      finished.map { case (i, last) => shard(i) -> last.map(number) },
      _ => None
    )
    .map(range => (range.shard.shard.value.takeRight(4).toInt, range.after, range.end))

  test("ranges are between two offsets, for every shard whose position changed") {
    val start = offset(0 -> Horizon, 1 -> after(10), 2 -> after(20))
    val end = offset(0 -> after(5), 1 -> after(15), 2 -> after(20))
    assert(
      ranges(start, end) ==
        Seq(
          (0, TrimHorizon, RangeEnd.At(number(5))),
          (1, AfterSequenceNumber(number(10)), RangeEnd.At(number(15)))
        )
    )
  }

  test("a finished shard is read to its last record if that is known, otherwise to its end") {
    val (start, end) = (offset(0 -> after(1), 1 -> after(1)), offset(0 -> ShardEnd, 1 -> ShardEnd))
    assert(
      ranges(start, end, Map(0 -> Some(9))).map(_._3) ==
        Seq(RangeEnd.At(number(9)), RangeEnd.ShardEnd)
    )
  }

  test("a shard that is finished without another record is not read") {
    assert(ranges(
      offset(0 -> after(9), 1 -> Horizon),
      offset(0 -> ShardEnd, 1 -> ShardEnd),
      Map(0 -> None, 1 -> None)
    ) == Nil)
  }

  test("a range can begin and end within an aggregate") {
    def within(value: Int, sub: Long): ShardPosition = Within(number(value), sub, 0)
    def planned(from: ShardPosition, to: ShardPosition, finished: Map[Int, Int] = Map.empty) =
      TaskPlanner.ranges(
        offset(0 -> from),
        offset(0 -> to),
        finished.map { case (i, last) => shard(i) -> Some(number(last)) },
        _ => None
      ).map(range => (range.after, range.skipUpTo, range.end))
    val (at, skipped) = (StartingPosition.AtSequenceNumber(number(7)), Some(UserRecord(number(7), 2)))
    assert(planned(within(7, 2), within(7, 2)) == Nil)
    assert(planned(within(7, 2), within(7, 5)) == Seq((at, skipped, RangeEnd.Within(UserRecord(number(7), 5)))))
    assert(planned(within(7, 2), after(7)) == Seq((at, skipped, RangeEnd.At(number(7)))))
    assert(planned(within(7, 2), ShardEnd, Map(0 -> 7)) == Seq((at, skipped, RangeEnd.At(number(7)))))
    assert(planned(after(6), within(7, 2)) ==
      Seq((AfterSequenceNumber(number(6)), None, RangeEnd.Within(UserRecord(number(7), 2)))))
  }

  test("a stream that is parked is not read, although the known end of a shard may have moved its position") {
    val parked = offset(0 -> ShardEnd, 1 -> after(5)).streams.map { case (arn, stream) =>
      arn -> stream.copy(phase = StreamPhase.Parked(9, isDrained = false))
    }
    assert(ranges(offset(0 -> after(5), 1 -> after(5)), SourceOffset(parked)) == Nil)
  }

  test("an added child is read from its beginning once records of it are planned") {
    val start = offset(0 -> ShardEnd)
    assert(ranges(start, offset(0 -> ShardEnd, 1 -> Horizon)) == Nil)
    assert(ranges(start, offset(0 -> ShardEnd, 1 -> after(3))) == Seq((1, TrimHorizon, RangeEnd.At(number(3)))))
  }

  test("added and removed shards do not change the start of other shards") {
    val start = offset(0 -> ShardEnd, 2 -> after(20), 3 -> ShardEnd, 5 -> after(50), 9 -> ShardEnd)
    val end = offset((1 to 7).filter(_ != 3).map(i => i -> after(i * 11)): _*)
    assert(
      ranges(start, end).map { case (shard, from, _) => shard -> from } ==
        Seq(
          1 -> TrimHorizon,
          2 -> AfterSequenceNumber(number(20)),
          4 -> TrimHorizon,
          5 -> AfterSequenceNumber(number(50)),
          6 -> TrimHorizon,
          7 -> TrimHorizon
        )
    )
  }

  private def tasks(owners: String, perTask: Option[Int], slots: Int): Seq[(Option[String], Seq[Int])] = {
    val all = owners.zipWithIndex.map { case (_, i) =>
      ShardRange(shard(i), "orders", TrimHorizon, RangeEnd.ShardEnd, None)
    }
    val owner = (s: StreamShard) => owners.charAt(all.indexWhere(_.shard == s)).toString
    TaskPlanner.tasks(all, s => Some(owner(s)).filter(_ != "-"), perTask, slots)
      .map(task => task.owner -> task.ranges.map(_.shard.shard.value.takeRight(4).toInt))
  }

  // Owners of the shards 0, 1, 2 … as letters; `-` for none.
  Seq(
    ("", None, 4, Nil),
    ("aabb", None, 2, Seq((Some("a"), Seq(0, 1)), (Some("b"), Seq(2, 3)))),
    ("aabb", None, 4, Seq((Some("a"), Seq(0)), (Some("a"), Seq(1)), (Some("b"), Seq(2)), (Some("b"), Seq(3)))),
    ("aaaaa", Some(2), 1, Seq((Some("a"), Seq(0, 3)), (Some("a"), Seq(1, 4)), (Some("a"), Seq(2)))),
    ("a-a-", Some(10), 4, Seq((None, Seq(1, 3)), (Some("a"), Seq(0, 2)))),
    ("ab", None, 0, Seq((Some("a"), Seq(0)), (Some("b"), Seq(1))))
  ).foreach { case (owners, perTask, slots, expected) =>
    test(s"shards of owners '$owners', $perTask per task, on $slots slots") {
      assert(tasks(owners, perTask, slots) == expected)
    }
  }

  test("a shard that began in a batch which finished another one is read after it, by the same task") {
    val start = offset(0 -> after(1), 1 -> after(1), 4 -> ShardEnd)
    def inOrder(end: SourceOffset): Boolean = {
      val ranges = TaskPlanner.ranges(start, end, Map.empty, _ => None)
      TaskPlanner.streamsInOrder(start, end, ranges).nonEmpty
    }
    assert(!inOrder(offset(0 -> ShardEnd, 1 -> after(5), 4 -> ShardEnd)), "nothing began")
    assert(!inOrder(offset(0 -> after(3), 1 -> after(5), 5 -> after(7))), "nothing was finished")
    assert(!inOrder(offset(0 -> ShardEnd, 1 -> after(5), 2 -> Horizon, 3 -> Horizon)), "nothing of a child is read")
    val end = offset(0 -> ShardEnd, 1 -> after(5), 2 -> ShardEnd, 3 -> after(7))
    assert(inOrder(end))
    val ranges = TaskPlanner.ranges(start, end, Map.empty, _ => None)
    val Seq(task) = TaskPlanner.tasks(ranges.reverse, _ => Some("a"), Some(1), 4, Set(arn)): @unchecked
    assert(task.ranges.map(_.shard) == Seq(0, 1, 2, 3).map(shard))
    assert(task.owner.contains("a"))
    assert(TaskPlanner.tasks(ranges, _ => None, Some(1), 4).size == 4, "otherwise they are spread")
  }
}
