package org.sparkkinesis.spark.read.realtime

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.spark.protocol.{Report, ShardReport}
import org.sparkkinesis.suite.TimedSuite

class FirstLookSuite extends TimedSuite {
  private val began = 100_000_000L
  private var now = began
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def shard(index: Int) = StreamShard("orders", id(index))

  private def offset(positions: ShardPosition*) = SourceOffset(Seq(StreamOffset(
    "orders",
    "orders",
    1,
    positions.zipWithIndex.map { case (position, index) => id(index) -> position }.to(SortedMap)
  )))
  private val read = ShardPosition.After(SequenceNumber("7"), 5)

  /** An answer of a shard up to this time, with a record that arrived at a time. */
  private def told(index: Int, readUpTo: Long, arrival: Option[Long] = None): ShardReport = {
    val chunks = arrival.map(at => ChunkSummary(SequenceNumber("9"), 1, 1, at, at, at, 0)).toVector
    ShardReport(shard(index), 1, chunks, 1, readUpTo, 0, None, None)
  }

  private def report(number: Long, shards: Seq[ShardReport], executor: String = "1", instance: Long = 1): Report =
    Report(executor, instance, number, full = false, bufferIsFull = false, Set.empty, shards, Map.empty)

  private val stored = offset(ShardPosition.ShardEnd)

  private def times(found: Seq[Option[FirstLook.Found]]): Seq[Option[Seq[Long]]] =
    found.map(_.map(_.timed.streams("orders").since.values.toSeq))

  test("the times are those of the first records, or those up to which shards without records were read") {
    val margin = IdleTime.Margin
    Seq[(String, Seq[ShardPosition], Seq[Seq[ShardReport]], Seq[Option[Seq[Long]]])](
      ("a record", Seq(ShardPosition.Horizon), Seq(Seq(told(0, 0, Some(7000)))), Seq(Some(Seq(7000L)))),
      ("no record", Seq(ShardPosition.Horizon), Seq(Seq(told(0, began + 1))), Seq(Some(Seq(began - margin)))),
      (
        "an answer before the tip",
        Seq(ShardPosition.Horizon),
        Seq(Seq(told(0, 9000000))),
        Seq(Some(Seq(9000000 - margin)))
      ),
      ("no answer", Seq(ShardPosition.Horizon), Seq(Seq(told(0, 0)), Nil), Seq(None, None)),
      ("once", Seq(ShardPosition.Horizon), Seq.fill(2)(Seq(told(0, 0, Some(7000)))), Seq(Some(Seq(7000L)), None)),
      ("one of two", Seq.fill(2)(ShardPosition.Horizon), Seq(Seq(told(1, 0, Some(7000)))), Seq(None)),
      (
        "one after the other",
        Seq.fill(2)(ShardPosition.Horizon),
        Seq(Seq(told(1, 0, Some(7000))), Seq(told(1, began, Some(8000)), told(0, 0, Some(3000)))),
        Seq(None, Some(Seq(3000L, 7000L)))
      ),
      ("positions with times", Seq(read, ShardPosition.ShardEnd), Seq(Seq(told(0, began))), Seq(None)),
      (
        "only positions without",
        Seq(read, ShardPosition.Horizon),
        Seq(Seq(told(1, 0, Some(7000)))),
        Seq(Some(Seq(7000L)))
      )
    ).foreach { case (name, positions, reports, expected) =>
      val look = new FirstLook(() => now)
      assert(look.begin(stored, offset(positions: _*), _ => Some(began)).isEmpty, name)
      val found = reports.zipWithIndex.map { case (shards, i) => look.accept(report(i + 1L, shards)) }
      assert(times(found) == expected, name)
      assert(found.flatten.forall(one => one.timed.isTimed && (one.stored eq stored)), name)
    }
  }

  test("a closed shard without records has no time, because those of its children may be older than its tip") {
    val look = new FirstLook(() => now)
    look.begin(stored, offset(ShardPosition.Horizon), _ => None)
    assert(look.accept(report(1, Seq(told(0, began)))).isEmpty)
    assert(times(Seq(look.accept(report(2, Seq(told(0, began, Some(7000))))))) == Seq(Some(Seq(7000L))))
  }

  test("after a lost report, which may have had the first record, there are no times") {
    Seq(
      Seq(report(2, Seq(told(0, 0, Some(7000))))),
      Seq(report(1, Nil), report(3, Seq(told(0, 0, Some(7000))))),
      Seq(report(1, Nil), report(2, Seq(told(0, 0, Some(7000))), instance = 2)),
      Seq(report(1, Nil), report(2, Seq(told(0, 0, Some(7000))), executor = "2"))
    ).foreach { reports =>
      val look = new FirstLook(() => now)
      look.begin(stored, offset(ShardPosition.Horizon), _ => Some(began))
      assert(reports.map(look.accept).forall(_.isEmpty), reports)
    }
  }

  test("the next batch has the times of the shards that were looked at before") {
    val look = new FirstLook(() => now)
    look.begin(stored, offset(ShardPosition.Horizon, ShardPosition.Horizon), _ => Some(began))
    look.accept(report(1, Seq(told(0, 0, Some(7000)))))
    assert(times(Seq(look.begin(stored, offset(ShardPosition.Horizon, read), _ => Some(began)))) ==
      Seq(Some(Seq(7000L))))
    assert(look.begin(stored, offset(ShardPosition.Horizon, ShardPosition.Horizon), _ => Some(began)).isEmpty)
    assert(times(Seq(look.accept(report(2, Seq(told(1, 0, Some(8000))))))) == Seq(Some(Seq(7000L, 8000L))))
  }

  test("the next batch looks again after a report was lost") {
    val look = new FirstLook(() => now)
    look.begin(stored, offset(ShardPosition.Horizon), _ => Some(began))
    assert(look.accept(report(2, Seq(told(0, 0, Some(7000))))).isEmpty)
    assert(look.begin(stored, offset(ShardPosition.Horizon), _ => Some(began)).isEmpty)
    assert(times(Seq(look.accept(report(3, Seq(told(0, 0, Some(9000))))))) == Seq(Some(Seq(9000L))))
  }

  test("the known time of a shard of which nothing was read is replaced, unless records may have expired meanwhile") {
    val (hour, margin) = (3600 * 1000L, IdleTime.Margin)
    Seq[(String, Option[Long], Seq[ShardReport], Option[Long])](
      ("no record", Some(began), Seq(told(0, began + 5 * hour)), Some(began + 4 * hour - margin)),
      ("a record", Some(began), Seq(told(0, began + 5 * hour, Some(began + 2 * hour))), Some(began + 2 * hour)),
      ("a record before the known time", Some(began), Seq(told(0, 0, Some(began - 1))), Some(began)),
      ("no answer", Some(began), Seq(told(0, 0)), None),
      ("late", Some(began - 20 * hour), Seq(told(0, began + 5 * hour, Some(began + 2 * hour))), Some(began - 20 * hour))
    ).foreach { case (name, since, shards, expected) =>
      now = began + 5 * hour
      val start = offset(ShardPosition.Horizon)
      val timed = start.copy(streams = start.streams.map { case (arn, stream) =>
        arn -> stream.copy(since = SortedMap.from(since.map(id(0) -> _)))
      })
      val look = new FirstLook(() => now)
      assert(look.begin(stored, timed, _ => Some(began + 4 * hour)).isEmpty, name)
      assert(times(Seq(look.accept(report(1, shards)))) == Seq(expected.map(Seq(_))), name)
    }
  }

  test("the times of shards without one do not wait for a look at the others") {
    now = began
    val start = offset(ShardPosition.Horizon, ShardPosition.Horizon)
    val timed = start.copy(streams = start.streams.map { case (arn, stream) =>
      arn -> stream.copy(since = SortedMap(id(1) -> (began - 9000)))
    })
    val look = new FirstLook(() => now)
    assert(look.begin(stored, timed, _ => None).isEmpty)
    val found = Seq(told(0, 0, Some(7000)), told(0, 0, Some(8000)), told(1, 0, Some(began)), told(1, 0, Some(began)))
      .zipWithIndex.map { case (one, i) => look.accept(report(i + 1L, Seq(one))) }
    assert(times(found) == Seq(Some(Seq(7000L, began - 9000)), None, Some(Seq(7000L, began)), None))
  }
}
