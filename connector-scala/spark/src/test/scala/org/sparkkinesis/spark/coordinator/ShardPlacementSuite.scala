package org.sparkkinesis.spark.coordinator

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.sparkkinesis.model.{HashKeyRange, SequenceNumber, Shard, ShardId}
import org.sparkkinesis.plan.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.protocol.{Assign, ProtocolCodec, Register}
import org.sparkkinesis.suite.TimedSuite

class ShardPlacementSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private val long = 600000L

  /** Four shards that must be read, and executors that note how many of them they are given. */
  private class Setup(graceMillis: Long) {
    val state = new CoordinatorState(Seq(arn))
    val placement = new ShardPlacement(state, graceMillis)
    val received: mutable.Map[String, Int] = mutable.Map.empty.withDefaultValue(0)
    private val shards = HashKeyRange.uniform(4).zipWithIndex.map { case (range, i) =>
      Shard(ShardId.ofIndex(i.toLong), None, None, range, SequenceNumber("1"), None)
    }
    state.graphs = Map(arn -> ShardGraph.of(shards))
    state.listed = Set(arn)
    state.position =
      SourceOffset(Seq(StreamOffset("orders", arn, 1, shards.map(_.id -> ShardPosition.Horizon).to(SortedMap))))

    def introduce(id: String): Unit = {
      val peer = new ConsumerPeer(id, "host", 1, s"$id:1", heard(id, _))
      assert(!placement.introduce(Register(id, "host", 1), peer))
    }

    private def heard(id: String, message: Array[Byte]): Unit = ProtocolCodec.decodeToExecutor(message) match {
      case Assign(assigned) => received(id) += assigned.size
      case other => fail(s"executor $id heard $other")
    }
  }

  test("before any shard has an owner, the first executor waits for those that are known, and then none has to move") {
    val s = new Setup(long)
    assert(s.placement.graceLeftMillis(Seq("1", "2")) == 0L)
    s.introduce("1")
    assert(s.placement.graceLeftMillis(Seq("1", "2")) > 0)
    s.introduce("2")
    assert(s.placement.graceLeftMillis(Seq("1", "2")) == 0L)
    assert(!s.placement.assign())
    assert(s.received.toMap == Map("1" -> 2, "2" -> 2))
  }

  test("an executor that comes while others read keeps nobody waiting") {
    val s = new Setup(long)
    s.introduce("1")
    s.placement.assign()
    assert(s.placement.graceLeftMillis(Seq("1", "2")) == 0L)
  }

  test("when all that read are lost, the first one to come back waits again") {
    val s = new Setup(long)
    s.introduce("1")
    s.placement.assign()
    assert(s.placement.lose("1") == (true, false))
    s.introduce("2")
    assert(s.placement.graceLeftMillis(Seq("2", "3")) > 0)
  }

  test("nobody waits for longer than the grace") {
    val s = new Setup(0)
    s.introduce("1")
    assert(s.placement.graceLeftMillis(Seq("1", "2")) == 0L)
  }
}
