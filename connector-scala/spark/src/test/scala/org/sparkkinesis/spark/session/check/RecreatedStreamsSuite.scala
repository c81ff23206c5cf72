package org.sparkkinesis.spark.session.check

import scala.concurrent.duration._

import org.sparkkinesis.model.{ShardId, StreamStatus}
import org.sparkkinesis.plan.offset.{LostLineage, ShardPosition, SourceOffset}
import org.sparkkinesis.service.Operation
import org.sparkkinesis.spark.connection.FakeDirectory.arn
import org.sparkkinesis.spark.session.SessionFixture
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles

/** Tests how a running query notices that a stream was deleted and created again. */
class RecreatedStreamsSuite extends SessionFixture {
  final private class Rig extends SessionRig(Seq("orders"), failOnDataLoss = false, Map.empty) {
    private val retention = new RetentionCheck(session, new MemoryFiles)
    val remade = new RecreatedStreams(session, check, retention, environment)
    def recreate(): Unit = service.add("orders", creationMillis = Created + 1000)
    def described: Int = service.callsOf(Operation.DescribeStreamSummary).size
  }

  private val orders = arn("orders")
  private val ended = stream("orders", Created, 5 -> ShardPosition.ShardEnd)
  private val from = SourceOffset(Seq(ended))
  private val lineage = LostLineage(Set(ShardId.ofIndex(5)), Set.empty, Set(ShardId.ofIndex(0)))

  test("a stream is compared with the one that the query knows, which is the new one from then on") {
    val rig = new Rig
    assert(rig.remade.check(Set(orders)) == RecreatedStreams.Found(Set.empty, Set.empty))
    rig.recreate()
    assert(rig.remade.check(Set(orders)) == RecreatedStreams.Found(Set(orders), Set.empty))
    assert(rig.remade.check(Set(orders)) == RecreatedStreams.Found(Set.empty, Set.empty))
    val mended = rig.check.mend(from).streams(orders)
    assert(mended.creationMillis == Created + 1000 && mended.shards.values.toSet == Set(ShardPosition.Horizon))
    assert(rig.lost == Seq("KINESIS_STREAM_RECREATED"))
  }

  test("nothing is described without a doubt, nor a stream that is not open") {
    val rig = new Rig
    val before = rig.described
    assert(rig.remade.check(Set(arn("clicks"))) == RecreatedStreams.Found(Set.empty, Set.empty))
    assert(rig.remade.relinked(from, from, Nil).exists(_ eq from))
    assert(rig.described == before)
  }

  test("the remaining shards of a lost lineage are read if the stream is the same, and not if it was recreated") {
    val same = new Rig
    val whole = same.remade.relinked(from, from, Seq(ended -> lineage))
    assert(whole.map(_.streams(orders).shards.keySet.toSet).contains(Set(ShardId.ofIndex(0))))
    assert(same.lost == Seq("KINESIS_DATA_LOSS"))
    val other = new Rig
    other.recreate()
    assert(other.remade.relinked(from, from, Seq(ended -> lineage)).isEmpty)
    assert(other.lost.isEmpty, "the next comparison with the checkpoint reports it")
  }

  test("a stream that cannot be described stays unknown, and is not described again within ten seconds") {
    val rig = new Rig
    rig.service.add("orders", StreamStatus.Creating, Created + 1000)
    assert(rig.remade.check(Set(orders)) == RecreatedStreams.Found(Set.empty, Set(orders)))
    val before = rig.described
    assert(rig.remade.relinked(from, from, Seq(ended -> lineage)).exists(_ eq from))
    assert(rig.described == before && rig.lost.isEmpty)
    rig.recreate()
    rig.time.advance(10.seconds)
    assert(rig.remade.check(Set(orders)) == RecreatedStreams.Found(Set(orders), Set.empty))
  }
}
