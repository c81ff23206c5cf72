package org.sparkkinesis.spark.coordinator

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.chunk.SummaryBounds
import org.sparkkinesis.error.DataLossPolicy
import org.sparkkinesis.model.{Shard, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.coordinator.state.{CoordinatorState, Overtaken}
import org.sparkkinesis.suite.TimedSuite

class ShardProgressSuite extends TimedSuite {
  private val orders = arn("orders")
  private val shard = StreamShard(orders, ShardId.ofIndex(0))

  final private class Rig {
    val state = new CoordinatorState(Seq(orders), SummaryBounds(1, 1, 1))
    val progress = new ShardProgress(state, DataLossPolicy.Strict, () => 0L)
    def advance(phase: StreamPhase): Unit = {
      val stream = StreamOffset("orders", orders, 1, SortedMap.empty[ShardId, Nothing], phase = phase)
      progress.advance(SourceOffset(Seq(stream)), Set.empty)
      ()
    }
  }

  /** Counts how often its elements are read. */
  final private class Counted(all: Seq[Shard]) extends scala.collection.immutable.AbstractSeq[Shard] {
    var reads = 0
    override def apply(index: Int): Shard = all(index)
    override def length: Int = all.size
    override def iterator: Iterator[Shard] = {
      reads += 1
      all.iterator
    }
  }

  test("shards that are known already are not added again at each poll") {
    val rig = new Rig
    val listed = new Counted(shards(4))
    rig.progress.know(orders, listed)
    val reads = listed.reads
    assert(reads > 0 && rig.state.graphs(orders).range(ShardId.ofIndex(3)).nonEmpty)
    (1 to 100).foreach(_ => rig.progress.know(orders, listed))
    assert(listed.reads == reads)
    rig.progress.know(orders, shards(5))
    assert(rig.state.graphs(orders).range(ShardId.ofIndex(4)).nonEmpty)
  }

  test("the shards of a stream that returns are added again") {
    val rig = new Rig
    val listed = new Counted(shards(4))
    rig.progress.know(orders, listed)
    rig.advance(StreamPhase.Parked(5, isDrained = true))
    assert(rig.state.graphs(orders).range(ShardId.ofIndex(3)).isEmpty)
    rig.progress.know(orders, listed)
    assert(rig.state.graphs(orders).range(ShardId.ofIndex(3)).nonEmpty)
  }

  test("a shard that is fetched more than 24 hours behind is noted, as of the time when it was most behind") {
    val rig = new Rig
    Seq(24.hours -> 1L, 30.hours -> 2L, 25.hours -> 3L).foreach { case (behind, until) =>
      rig.state.readLate(Overtaken(shard, until, behind.toMillis))
    }
    assert(rig.state.overtaken.all == Seq(Overtaken(shard, 2, 30.hours.toMillis)))
  }
}
