package org.sparkkinesis.spark.coordinator.state

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.{ChunkSummary, SummaryBounds}
import org.sparkkinesis.event.Losses
import org.sparkkinesis.model.StartingPosition.AtTimestamp
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.plan.{AvailableNowTarget, ReadLimits}
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime
import org.sparkkinesis.spark.coordinator.{PrefetchView, ShardPlacement, ShardProgress}
import org.sparkkinesis.spark.protocol.{Register, Report, ShardReport}
import org.sparkkinesis.suite.TimedSuite

/** Tests that nothing is planned which may be of a recreated stream. */
class UnprovenShardsSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private val target = AvailableNowTarget(5000)
  private val shard = StreamShard(arn, ShardId.ofIndex(0))
  private def number(value: Int) = SequenceNumber(value.toString)
  private val records = Vector(ChunkSummary(number(5), 1, 1, 4000, 4000, 4000, 0))

  /** One executor that reads a stream of one shard. */
  final private class Rig(from: ShardPosition) {
    val state = new CoordinatorState(Seq(arn), SummaryBounds(1, 1, 1))
    private val progress = new ShardProgress(state, Losses.Strict, () => 0L)
    private val placement = new ShardPlacement(state, 0, () => 0L)
    val view = new PrefetchView(state, _.id, () => ())
    private val start = SourceOffset(Seq(StreamOffset("orders", arn, 1, SortedMap(shard.shard -> from))))
    private var reports = 0L
    private var instance = 1L
    progress.advance(start, Set.empty)
    private val listed = Shard(shard.shard, None, None, HashKeyRange.Whole, number(1), None)
    progress.listings.list(arn, Seq(listed), ListingTime(System.nanoTime, 9000))
    placement.introduce(Register("1", "host", 1), new ConsumerPeer("1", "host", 1, "1:1", _ => ()))
    placement.assign()

    def plan: Option[Long] = view.plan(start, ReadLimits.Unlimited, None, evenUntimed = true).map(_.rows)

    def tell(chunks: Vector[ChunkSummary], ended: Boolean = false): Unit = {
      reports += 1
      val child = ChildShard(ShardId.ofIndex(1), Seq(shard.shard), HashKeyRange.Whole)
      val epoch = state.tracks(shard).epoch
      val told = ShardReport(shard, epoch, chunks, 1, 9000, 0, Option.when(ended)(Seq(child)), None, 9000)
      progress.accept(Report(
        "1",
        instance,
        reports,
        full = false,
        bufferIsFull = false,
        Set.empty,
        Seq(told),
        Map.empty
      ))
      ()
    }

    def moveToOther(): Unit = {
      placement.lose("1")
      instance = 2
      reports = 0
      placement.introduce(Register("1", "host", instance), new ConsumerPeer("1", "host", instance, "1:2", _ => ()))
      placement.assign()
      ()
    }
  }

  Seq(ShardPosition.Horizon, ShardPosition.Start(AtTimestamp(1000))).foreach { from =>
    test(s"the first records after $from are planned when a later description shows the known stream") {
      val rig = new Rig(from)
      rig.tell(Vector.empty)
      assert(rig.view.unproven.isEmpty, "nothing was read")
      val before = System.nanoTime
      rig.tell(records)
      assert(rig.view.unproven == Map(arn -> None) && rig.plan.isEmpty)
      assert(!rig.view.targets.isReached(target) && !rig.view.targets.isDrained(arn, target))
      rig.view.prove(Set(arn), before)
      assert(rig.plan.isEmpty, "the description is older than the records")
      rig.view.prove(Set(arn), System.nanoTime)
      assert(rig.view.unproven.isEmpty && rig.plan.contains(1L))
      // The consumer continues after a record of the known stream.
      rig.tell(Vector(ChunkSummary(number(6), 1, 1, 4000, 4000, 4000, 0)))
      assert(rig.view.unproven.isEmpty && rig.plan.contains(2L))
    }
  }

  test("a stream waits for a shard that has an owner and no answer") {
    val rig = new Rig(ShardPosition.Horizon)
    val before = System.nanoTime
    rig.tell(records)
    val other = new ShardTrack(StreamShard(arn, ShardId.ofIndex(1)), SummaryBounds(1, 1, 1))
    rig.state.tracks(other.shard) = other
    assert(rig.view.unproven == Map(arn -> None), "nobody reads the other shard")
    other.assign("1", 1, ShardPosition.Horizon)
    assert(rig.view.unproven.get(arn).flatten.exists(since => before <= since && since <= System.nanoTime))
    other.accept(ShardReport(other.shard, 1, Vector.empty, 1, 9000, 0, None, None), replaces = false)
    assert(rig.view.unproven == Map(arn -> None))
  }

  test("the end of a shard without records is proven as well") {
    val rig = new Rig(ShardPosition.Horizon)
    rig.tell(Vector.empty, ended = true)
    assert(rig.view.unproven == Map(arn -> None) && !rig.view.targets.isReached(target))
    rig.view.prove(Set(arn), System.nanoTime)
    assert(rig.view.unproven.isEmpty)
  }

  test("records after a sequence number need no description") {
    val rig = new Rig(ShardPosition.After(number(4), 3000))
    rig.tell(records)
    assert(rig.view.unproven.isEmpty && rig.plan.contains(1L))
  }

  test("another executor begins at the same position, and its records are proven again") {
    val rig = new Rig(ShardPosition.Horizon)
    rig.tell(records)
    rig.view.prove(Set(arn), System.nanoTime)
    rig.moveToOther()
    assert(rig.view.unproven.isEmpty && rig.plan.isEmpty)
    rig.tell(records)
    assert(rig.view.unproven == Map(arn -> None) && rig.plan.isEmpty)
  }
}
