package org.sparkkinesis.spark.read.realtime

import scala.collection.immutable.SortedMap

import org.sparkkinesis.event.{QueryStarted, QueryStopped, ShardsNotReported}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset}
import org.sparkkinesis.spark.connection.FakeDirectory.arn
import org.sparkkinesis.spark.coordinator.cluster.{ExecutorCluster, ExecutorPlace}
import org.sparkkinesis.spark.protocol.{DriverHandler, Endpoint}
import org.sparkkinesis.spark.read.SourceQuery
import org.sparkkinesis.spark.session.SessionFixture
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles
import org.sparkkinesis.spark.settings.{KinesisReadLimit, ReadSettings}

class RealTimeQuerySuite extends SessionFixture {

  /** One executor with room for four tasks. */
  private object Cluster extends ExecutorCluster {
    override def executors: Seq[ExecutorPlace] = Seq(ExecutorPlace("1", "host"))
    override def slots: Int = 4
    override def location(place: ExecutorPlace): String = place.host
    override def open(name: String, handler: DriverHandler): Endpoint = () => ()
    override def listen(onAdded: () => Unit, onRemoved: String => Unit): AutoCloseable = () => ()
    override def startConsumers(sourceId: String, settings: ReadSettings, places: Seq[ExecutorPlace]): Unit = ()
  }

  private def open(rig: SessionRig): (SourceQuery, RealTimeQuery) = {
    val limit = KinesisReadLimit(rig.session.options)
    val query = new SourceQuery(rig.session, new MemoryFiles, Cluster, limit.limits, limit.minimum, rig.environment)
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
}
