package org.sparkkinesis.spark.coordinator

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.chunk.SummaryBounds
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.event._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, Shard, ShardId, StartingPosition}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.coordinator.state.{ConsumerPeer, CoordinatorState, UnreachableStreams}
import org.sparkkinesis.spark.protocol.{Assign, ProtocolCodec, Register, Unassign}
import org.sparkkinesis.suite.TimedSuite

class ShardPlacementSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private val long = 600000L

  /** Four shards that must be read, and executors that count the shards they are assigned. */
  private class Setup(graceMillis: Long, filtersByRange: Boolean = false) {
    val events = new RecordedEvents
    val clock = new VirtualScheduler
    val state =
      new CoordinatorState(Seq(arn), SummaryBounds(1, 1, 1), clock, events = events, filtersByRange = filtersByRange)
    val placement = new ShardPlacement(state, graceMillis, () => clock.currentMillis)
    val received: mutable.Map[String, Int] = mutable.Map.empty.withDefaultValue(0)
    val shards: Seq[Shard] = HashKeyRange.uniform(4).zipWithIndex.map { case (range, i) =>
      Shard(ShardId.ofIndex(i.toLong), None, None, range, SequenceNumber("1"), None)
    }
    state.graphs = Map(arn -> ShardGraph.of(shards))
    state.listed = Set(arn)
    state.moveTo(SourceOffset(Seq(StreamOffset(
      "orders",
      arn,
      1,
      shards.map(_.id -> ShardPosition.Horizon).to(SortedMap)
    ))))

    def introduce(id: String): Unit = {
      val peer = new ConsumerPeer(id, "host", 1, s"$id:1", heard(id, _))
      assert(!placement.introduce(Register(id, "host", 1), peer))
    }

    /** Sets the unreachable streams of an executor's reports. */
    def unreachable(streams: (String, Set[String])*): Unit =
      streams.foreach { case (id, those) => state.peers(id).unreachable = those }

    private def heard(id: String, message: Array[Byte]): Unit = ProtocolCodec.decodeToExecutor(message) match {
      case Assign(assigned, _, _) => received(id) += assigned.size
      case Unassign(left) => received(id) -= left.size
      case other => fail(s"executor $id received $other")
    }
  }

  test("before the first assignment, the first executor waits for the known executors, so that no shard moves later") {
    val s = new Setup(long)
    assert(s.placement.graceLeftMillis(Seq("1", "2")) == 0L)
    s.introduce("1")
    assert(s.placement.graceLeftMillis(Seq("1", "2")) > 0)
    s.introduce("2")
    assert(s.placement.graceLeftMillis(Seq("1", "2")) == 0L)
    assert(!s.placement.assign())
    assert(s.received.toMap == Map("1" -> 2, "2" -> 2))
  }

  test("an executor that joins while others read causes no wait") {
    val s = new Setup(long)
    s.introduce("1")
    s.placement.assign()
    assert(s.placement.graceLeftMillis(Seq("1", "2")) == 0L)
  }

  test("after the loss of all executors, the first new one waits again") {
    val s = new Setup(long)
    s.introduce("1")
    s.placement.assign()
    assert(s.placement.lose("1") == (true, false))
    s.introduce("2")
    assert(s.placement.graceLeftMillis(Seq("2", "3")) > 0)
  }

  test("the wait is limited to the grace period") {
    val s = new Setup(0)
    s.introduce("1")
    assert(s.placement.graceLeftMillis(Seq("1", "2")) == 0L)
  }

  test("events report assignments, moves to a later executor, and its loss, with positions and counts") {
    val s = new Setup(0)
    s.introduce("1")
    s.placement.assign()
    s.introduce("2")
    s.placement.assign()
    s.placement.lose("2")
    val (joined, assigned, moved) = (s.events.of[ExecutorJoined], s.events.of[ShardsAssigned], s.events.of[ShardsMoved])
    assert(joined == Vector(ExecutorJoined("1", "host"), ExecutorJoined("2", "host")))
    assert(assigned.map(event => (event.executor, event.shards.map(_._2).toSet, event.shards.size)) ==
      Vector(("1", Set(StartingPosition.TrimHorizon), 4)))
    assert(moved.map(event => (event.from, event.to, event.shards.size)) == Vector(("1", "2", 2)))
    assert(s.events.of[ExecutorLost] == Vector(ExecutorLost("2", 2)))
  }

  test("all shards leave an executor that cannot reach their stream at once, and return after a pause") {
    val s = new Setup(0)
    Seq("1", "2").foreach(s.introduce)
    s.placement.assign()
    s.unreachable("1" -> Set(arn))
    s.placement.assign()
    assert(s.received.toMap == Map("1" -> 0, "2" -> 4))
    assert(s.events.of[StreamUnreachable] == Vector(StreamUnreachable("1", arn, 2)))
    s.unreachable("1" -> Set.empty)
    s.clock.advance(UnreachableStreams.FirstPause - 1.second)
    s.placement.assign()
    assert(s.received("1") == 0)
    s.clock.advance(1.second)
    s.placement.assign()
    assert(s.received.toMap == Map("1" -> 2, "2" -> 2))
  }

  test("with a filter by hash keys, a shard waits until a listing shows it, or several listings have omitted it") {
    val s = new Setup(0, filtersByRange = true)
    val known = s.shards.take(3)
    s.state.graphs = Map(arn -> ShardGraph.of(known))
    s.introduce("1")
    (2 to ShardGraph.Omissions).foreach { _ =>
      s.placement.assign()
      assert(s.received("1") == 3 && s.state.streamsToList == Set(arn))
      s.state.graphs = s.state.graphs.transform((_, graph) => graph.withListing(known))
    }
    s.placement.assign()
    assert(s.received("1") == 4 && s.state.streamsToList.isEmpty)
    val listed = new Setup(0, filtersByRange = true)
    listed.introduce("1")
    listed.placement.assign()
    assert(listed.received("1") == 4 && listed.state.streamsToList.isEmpty)
    val without = new Setup(0)
    without.state.graphs = Map(arn -> ShardGraph.of(known))
    without.introduce("1")
    without.placement.assign()
    assert(without.received("1") == 4 && without.state.streamsToList.isEmpty)
  }

  test("shards keep their owners while no executor reaches the stream") {
    val s = new Setup(0)
    Seq("1", "2").foreach(s.introduce)
    s.placement.assign()
    s.unreachable("1" -> Set(arn), "2" -> Set(arn))
    s.placement.assign()
    assert(s.received.toMap == Map("1" -> 2, "2" -> 2))
    assert(s.events.of[StreamUnreachable].isEmpty)
  }

  test("the remaining executors read the shards when the only one that reaches the stream is lost") {
    val s = new Setup(0)
    Seq("1", "2").foreach(s.introduce)
    s.placement.assign()
    s.unreachable("1" -> Set(arn))
    s.placement.assign()
    s.placement.lose("2")
    s.placement.assign()
    assert(s.received("1") == 4)
  }

  test("events are emitted without the lock, so that a slow listener blocks no other thread") {
    val held = new java.util.concurrent.atomic.AtomicBoolean
    lazy val state: CoordinatorState = new CoordinatorState(
      Seq(arn),
      SummaryBounds(1, 1, 1),
      events = _ => {
        val other = new Thread(() => state.locked(()))
        other.start()
        other.join(10000)
        held.set(other.isAlive)
      }
    )
    state.locked(state.locked(state.note(BufferFilled("1"))))
    assert(!held.get)
  }
}
