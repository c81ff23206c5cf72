package org.sparkkinesis.simulation.read

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.{ChunkSummary, SummaryBounds}
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.suite.TimedSuite

class DriverMemorySuite extends TimedSuite {
  private val bounds = SummaryBounds(maxRows = 100, maxBytes = 1000, maxMillis = 10000)
  private val parent = ShardId.ofIndex(0)
  private val child = ShardId.ofIndex(1)

  private def summary(rows: Int, bytes: Long, at: Long) =
    ChunkSummary(SequenceNumber.trusted("1"), rows, bytes, at, at, at, 0)

  private def offset(shard: ShardId, phase: StreamPhase = StreamPhase.Active) = SourceOffset(Seq(
    StreamOffset("orders", "orders", 0, SortedMap(shard -> ShardPosition.Horizon), phase = phase)
  ))

  private val parked = StreamPhase.Parked(0, isDrained = true)

  private def memory(now: () => Long = () => 0, isParked: Option[Boolean] = None) = new DriverMemory(
    now,
    bounds,
    leftMillis = 1000,
    (_, shard) => if (shard == child.value) Set(parent.value) else Set.empty,
    _ => isParked
  )

  private def refuses(body: => Unit): Boolean =
    try {
      body
      false
    } catch { case violation: Violation => violation.kind == "memory" }

  test("a shard has at most the summaries that cannot be joined") {
    Seq(
      ("small and at one time", Seq.fill(51)(summary(1, 1, 0)), false),
      ("one more of them", Seq.fill(52)(summary(1, 1, 0)), true),
      ("many rows", Seq.fill(100)(summary(34, 1, 0)), false),
      ("many bytes", Seq.fill(100)(summary(1, 340, 0)), false),
      ("over a long time", (0 to 8).map(i => summary(1, 1, i * 4000L)), false),
      ("more than that time explains", (0 to 60).map(i => summary(1, 1, i * 500L)), true)
    ).foreach { case (name, summaries, isTooMuch) =>
      val held = Map(StreamShard("orders", parent) -> summaries)
      assert(refuses(memory().check(offset(parent), held)) == isTooMuch, name)
    }
  }

  test("nothing is held for long of a shard whose child is in the offset, or of a parked stream") {
    val held = Map(StreamShard("orders", parent) -> Seq.empty[ChunkSummary])
    Seq(
      ("the parent is read", offset(parent), None, false),
      ("the child is read", offset(child), None, true),
      ("the stream is parked", offset(parent, parked), None, true),
      ("the stream has returned since the last batch", offset(parent, parked), Some(false), false),
      ("the stream was parked since the last batch", offset(parent), Some(true), true)
    ).foreach { case (name, now, isParked, isLeft) =>
      var millis = 0L
      val checked = memory(() => millis, isParked)
      checked.check(now, held)
      millis = 1000
      checked.check(now, held)
      millis = 1001
      assert(refuses(checked.check(now, held)) == isLeft, name)
    }
  }

  test("a shard that is read again begins anew") {
    val held = Map(StreamShard("orders", parent) -> Seq.empty[ChunkSummary])
    var millis = 0L
    val checked = memory(() => millis)
    checked.check(offset(child), held)
    millis = 900
    checked.check(offset(parent), held)
    millis = 1800
    checked.check(offset(child), held)
  }
}
