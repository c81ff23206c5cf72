package org.sparkkinesis.spark.read.realtime

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.event.{QueryStarted, QueryStopped, ShardsNotReported}
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition.Horizon
import org.sparkkinesis.plan.offset.{IdleTime, SourceOffset, StreamOffset}
import org.sparkkinesis.service.ShardPage
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.coordinator.cluster.{ExecutorCluster, ExecutorPlace}
import org.sparkkinesis.spark.protocol.{DriverHandler, Endpoint, ProtocolCodec, Register, Report, ShardReport}
import org.sparkkinesis.spark.read.query.SourceQuery
import org.sparkkinesis.spark.session.SessionFixture
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, MemoryFiles, ReadUpToStore}
import org.sparkkinesis.spark.settings.{KinesisReadLimit, ReadSettings}

class RealTimeQuerySuite extends SessionFixture {

  private var driver: DriverHandler = _

  /** One executor with room for four tasks. */
  private object Cluster extends ExecutorCluster {
    override def executors: Seq[ExecutorPlace] = Seq(ExecutorPlace("1", "host"))
    override def slots: Int = 4
    override def location(place: ExecutorPlace): String = place.host
    override def open(name: String, handler: DriverHandler): Endpoint = {
      driver = handler
      () => ()
    }
    override def listen(onAdded: () => Unit, onRemoved: String => Unit): AutoCloseable = () => ()
    override def startConsumers(sourceId: String, settings: ReadSettings, places: Seq[ExecutorPlace]): Unit = ()
  }

  private def open(rig: SessionRig, files: CheckpointFiles = new MemoryFiles): (SourceQuery, RealTimeQuery) = {
    val limit = KinesisReadLimit(rig.session.options)
    val query = new SourceQuery(rig.session, files, Cluster, limit.limits, limit.minimum, rig.environment)
    (query, new RealTimeQuery(query, Cluster, new RealTimeSlots))
  }

  test("shards that no task reported stay at their positions, with a warning") {
    val rig = new SessionRig(Seq("orders"), failOnDataLoss = true, Map.empty)
    val (query, live) = open(rig)
    val planned = live.plan(query.initialOffset).flatMap(_.shards).map(one => one.shard.shard -> one.position)
    assert(planned.size == 2)
    assert(live.merge(Nil).streams(arn("orders")).shards.toMap == planned.toMap)
    val events = rig.environment.recorded
    assert(events.of[ShardsNotReported] == Vector(ShardsNotReported(2)))
    live.close()
    query.stop()
    assert(events.of[QueryStarted].map(_.shards.map(_._1)) == Vector(planned.map(_._1)))
    assert(events.of[QueryStopped].map(_.rows) == Vector(0L))
  }

  test("a drained query reads nothing more, and waits until an end that it reached then is committed") {
    val (query, live) = open(new SessionRig(Seq("orders"), failOnDataLoss = true, Map.empty))
    val start = query.initialOffset
    assert(live.plan(start).forall(task => task.shards.nonEmpty && !task.isEnded))
    val drained = live.drain()
    val end = live.merge(Nil)
    live.committed(SourceOffset(SortedMap.empty[String, StreamOffset]))
    assert(!drained.isDone, "an earlier batch was committed")
    assert(live.plan(end).forall(task => task.shards.isEmpty && task.isEnded))
    assert(!drained.isDone, "Spark may store the progress later")
    live.committed(end)
    assert(drained.isDone)
    live.close()
    query.stop()
  }

  test("with a filter by hash keys, a batch begins when a listing shows its shards, or several have omitted them") {
    val positions = SourceOffset(Seq(stream("orders", Created, 0 -> Horizon, 1 -> Horizon)))
    val (first, last) = (shards(2).head, shards(2).last)
    val closed = last.copy(endingSequenceNumber = Some(SequenceNumber("2")))
    val child =
      last.copy(id = ShardId.ofIndex(2), parent = Some(last.id), startingSequenceNumber = SequenceNumber("3"))
    Seq(Some(last.hashKeyRange), None).foreach { expected =>
      val filter = Map("deaggregation.hashRangeFilter" -> "true")
      val rig = new SessionRig(Seq("orders"), failOnDataLoss = true, Map.empty, filter)
      val (query, live) = open(rig)
      rig.service.unlisted = Set(last.id)
      rig.service.listings.clear()
      rig.service.listings ++= Seq.fill(ShardGraph.Omissions - 1)(ShardPage(Seq(first, child), None))
      if (expected.nonEmpty) rig.service.listings += ShardPage(Seq(first, closed, child), None)
      val planned = live.plan(positions).flatMap(_.shards)
      assert(planned.map(one => one.shard.shard -> one.hashKeyRange).toMap ==
        Map(first.id -> Some(first.hashKeyRange), last.id -> expected))
      assert(rig.listings == ShardGraph.Omissions)
      live.close()
      query.stop()
    }
  }

  test("a batch that begins long after the listing has the time at which a listing showed its shard as open") {
    val margin = IdleTime.Margin
    val (first, second) = (shards(2).head, shards(2).last)
    val closed = second.copy(endingSequenceNumber = Some(SequenceNumber("2")))
    val child =
      second.copy(id = ShardId.ofIndex(2), parent = Some(second.id), startingSequenceNumber = SequenceNumber("3"))
    Seq("still open" -> Seq(first, second), "closed since" -> Seq(first, closed, child)).foreach { case (name, later) =>
      val rig = new SessionRig(Seq("orders"), failOnDataLoss = true, Map.empty)
      val files = new MemoryFiles
      val (query, live) = open(rig, files)
      val began = rig.time.currentMillis
      live.plan(SourceOffset(Seq(stream("orders", Created, 0 -> Horizon, 1 -> Horizon))))
      rig.time.advance(20.hours)
      rig.service.listings.clear()
      rig.service.listings += ShardPage(later, None)
      val next = SourceOffset(Seq(stream("orders", Created, 0 -> readUpTo(rig.time.currentMillis), 1 -> Horizon)))
      val beganNext = rig.time.currentMillis
      live.plan(next)
      val shard = StreamShard(arn("orders"), second.id)
      driver.onRegister(ProtocolCodec.encode(Register("1", "host", 1)), _ => (), "address")
      val told = ShardReport(shard, 1, Vector.empty, 1, rig.time.currentMillis, 0, None, None)
      driver.onMessage(
        ProtocolCodec.encode(Report("1", 1, 1, full = false, bufferIsFull = false, Set.empty, Seq(told), Map.empty))
      )
      rig.time.advance(1.second)
      val stored = new ReadUpToStore(files).of(next).streams(arn("orders")).readUntil(second.id)
      // The clock's uncertainty and the requests take less than a minute.
      val expected = if (later.contains(second)) beganNext else began
      assert(stored.exists(time => math.abs(time - (expected - margin)) < 60000), s"$name: $stored, $expected")
      live.close()
      query.stop()
    }
  }
}
