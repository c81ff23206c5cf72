package org.sparkkinesis.spark.read.realtime

import scala.concurrent.duration._

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{
  ConsumerHealth, ExecutorOutageBegan, ExecutorOutageEnded, OngoingOutage, RecordedEvents, StreamUnreachable
}
import org.sparkkinesis.metric.ShardFigures
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ChildShard, SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.realtime.{LatencyCounts, TaskEnd}
import org.sparkkinesis.spark.coordinator.state.Overtaken
import org.sparkkinesis.spark.protocol.{
  EndTasks, OtherMessage, Peer, ProtocolCodec, Register, Report, ShardReport, TaskEnded, ToExecutor, Unassign
}
import org.sparkkinesis.suite.TimedSuite

class LiveExecutorsSuite extends TimedSuite {
  private def shard(index: Int) = StreamShard("orders", ShardId.ofIndex(index.toLong))

  /** A query whose executors report as the test says. The stream keeps its records for 24 hours. */
  private class Rig {
    val time = new VirtualScheduler
    val events = new RecordedEvents
    val sent = scala.collection.mutable.ArrayBuffer.empty[(String, ToExecutor)]
    val executors = new LiveExecutors(
      () => time.currentMillis,
      () => time.currentMillis,
      time,
      events,
      (_, _) => ()
    )
    Seq("1", "2").foreach(join(_))

    def join(id: String, instance: Long = 1): Unit = {
      val peer: Peer = message => sent += id -> ProtocolCodec.decodeToExecutor(message)
      executors.onRegister(ProtocolCodec.encode(Register(id, "host", instance)), peer, s"address-$id")
    }

    def report(
        id: String,
        shards: Seq[ShardReport] = Nil,
        unreachable: Set[String] = Set.empty,
        instance: Long = 1,
        health: ConsumerHealth = ConsumerHealth()
    ): Unit = executors.onMessage(ProtocolCodec.encode(
      Report(id, instance, 1, full = false, bufferIsFull = false, unreachable, shards, Map.empty, health)
    ))

    /** The shard was fetched up to now. */
    def fetched(index: Int, epoch: Long = 1, end: Option[Seq[ChildShard]] = None): ShardReport =
      ShardReport(shard(index), epoch, Vector.empty, 1, time.currentMillis, 0, end, None)

    def begin(shards: (Int, Option[Long])*): Unit =
      executors.begin(shards.map { case (index, since) => shard(index) -> since }.toMap)

    /** The task hands over so many rows. */
    def ended(epoch: Long, rows: Long): TaskEnded = {
      val end = TaskEnded("1", "host", epoch, TaskEnd(Vector.empty, rows, 0, LatencyCounts.Empty))
      executors.onMessage(ProtocolCodec.encode(end))
      end
    }

    def overtaken: Seq[StreamShard] = executors.takeOvertaken().map(_.shard)
  }

  test("a shard is overtaken if the service is not reached for longer than it keeps records, within a batch") {
    val rig = new Rig
    rig.begin(0 -> Some(rig.time.currentMillis), 1 -> Some(rig.time.currentMillis))
    rig.report("1", Seq(rig.fetched(0), rig.fetched(1)))
    rig.time.advance(23.hours)
    rig.report("1", Seq(rig.fetched(1)))
    assert(rig.overtaken.isEmpty)
    val readUntil = rig.time.currentMillis - 23.hours.toMillis
    rig.time.advance(2.hours)
    rig.report("1", Seq(rig.fetched(0), rig.fetched(1)))
    assert(rig.executors.takeOvertaken() == Seq(Overtaken(shard(0), readUntil, 25.hours.toMillis)))
    rig.report("1", Seq(rig.fetched(0)))
    assert(rig.overtaken.isEmpty, "a loss is reported once")
  }

  test("a shard that another executor takes over is overtaken if its records expired before the first response") {
    val rig = new Rig
    rig.begin(0 -> Some(rig.time.currentMillis))
    rig.report("1", Seq(rig.fetched(0)))
    rig.time.advance(23.hours)
    rig.report("1", Seq(rig.fetched(0)))
    rig.time.advance(2.hours)
    rig.report("2", Seq(rig.fetched(0, epoch = 2)))
    assert(rig.overtaken == Seq(shard(0)))
    rig.report("1", Seq(rig.fetched(0, epoch = 3)))
    assert(rig.overtaken.isEmpty, "a loss is reported once")
  }

  test("a shard without a known time that another executor takes over is overtaken if what was fetched first expired") {
    Seq(
      (Some(2.hours), 23.hours, true),
      (Some(2.hours), 21.hours, false),
      (None, 23.hours, false),
      (None, 25.hours, true)
    ).foreach { case (age, later, isLost) =>
      val rig = new Rig
      rig.begin(0 -> None)
      val first = age.map(old => rig.time.currentMillis - old.toMillis)
      val chunk = first.map(at => ChunkSummary(SequenceNumber("1"), 1, 100, at, at, at, 0))
      rig.report("1", Seq(rig.fetched(0).copy(chunks = chunk.toVector)))
      rig.time.advance(1.minute)
      rig.report("1", Seq(rig.fetched(0)))
      rig.time.advance(later)
      rig.report("2", Seq(rig.fetched(0, epoch = 2)))
      assert(rig.overtaken == (if (isLost) Seq(shard(0)) else Nil), s"$age, $later")
    }
  }

  test("a batch that begins with positions from before the expiry is overtaken, unless its reader has fetched since") {
    val rig = new Rig
    rig.begin(0 -> Some(rig.time.currentMillis), 1 -> None)
    val began = rig.time.currentMillis
    rig.time.advance(13.hours)
    rig.report("1", Seq(rig.fetched(0)))
    rig.time.advance(13.hours)
    rig.begin(0 -> Some(began), 1 -> None)
    rig.report("1", Seq(rig.fetched(0, epoch = 2), rig.fetched(1, epoch = 2)))
    assert(rig.overtaken.isEmpty, "the records are in the buffer of the executor; shard 1 has no time")
    rig.join("1", instance = 2)
    rig.report("1", Seq(rig.fetched(0, epoch = 3)), instance = 2)
    assert(rig.overtaken == Seq(shard(0)), "new consumers have nothing in their buffer")
  }

  test("a child shard is not overtaken because of the time of its parent, which was open later") {
    Seq(0.hours -> false, 20.hours -> true).foreach { case (pause, isOvertaken) =>
      val rig = new Rig
      val now = rig.time.currentMillis
      val children = Seq(ChildShard(ShardId.ofIndex(5), Seq(ShardId.ofIndex(0)), HashKeyRange.Whole))
      rig.executors.begin(Map(shard(0) -> Some(now - 23.hours.toMillis)), Map(shard(0) -> now))
      val end = ShardReport(shard(0), 1, Vector.empty, 1, 0, 0, Some(children), None)
      rig.report("1", Seq(end))
      rig.time.advance(2.hours + pause + pause / 5)
      rig.report("1", Seq(rig.fetched(5)))
      assert(rig.overtaken == (if (isOvertaken) Seq(shard(5)) else Nil), pause)
    }
  }

  test("a child shard is overtaken if its parent was read before the expiry") {
    val rig = new Rig
    rig.begin(0 -> Some(rig.time.currentMillis))
    rig.report("1", Seq(rig.fetched(0)))
    val children = Seq(ChildShard(ShardId.ofIndex(5), Seq(ShardId.ofIndex(0)), HashKeyRange.Whole))
    rig.report("1", Seq(rig.fetched(0, end = Some(children))))
    rig.time.advance(25.hours)
    rig.report("1", Seq(rig.fetched(5)))
    assert(rig.overtaken == Seq(shard(5)))
  }

  test("an executor that cannot reach a stream is avoided while another one may reach it") {
    val rig = new Rig
    rig.begin(0 -> None, 1 -> None)
    rig.report("1", Seq(rig.fetched(0)))
    rig.report("2", Seq(rig.fetched(1)))
    def avoided = rig.executors.avoidUnreachable(Seq("1", "2"))("orders")
    assert(avoided.isEmpty)
    rig.report("1", unreachable = Set("orders"))
    assert(avoided == Set("1"))
    assert(rig.events.all.collect { case told: StreamUnreachable => told.id -> told.shards } == Seq("1" -> 1))
    rig.report("2", Seq(rig.fetched(0, epoch = 2)))
    assert(rig.sent.last == "1" -> Unassign(Seq(shard(0))))
    rig.report("1", Seq(rig.fetched(7)))
    assert(avoided.isEmpty, "it has received an answer")
  }

  test("during an outage that every executor reports, none is avoided") {
    val rig = new Rig
    rig.begin(0 -> None)
    rig.report("1", Seq(rig.fetched(0)))
    Seq("1", "2").foreach(rig.report(_, unreachable = Set("orders")))
    assert(rig.executors.avoidUnreachable(Seq("1", "2"))("orders").isEmpty)
  }

  test("the driver has the outages that executors report, their buffers, and the shards that they read") {
    val rig = new Rig
    rig.begin(0 -> None, 1 -> None)
    val outage = OngoingOutage("orders", 1, 6000, "no answer")
    rig.report("1", Seq(rig.fetched(0)), health = ConsumerHealth(bufferBytes = 1024, outages = Seq(outage)))
    rig.report("2", Seq(rig.fetched(1).copy(millisBehindLatest = 5000), rig.fetched(2, end = Some(Nil))))
    assert(rig.events.all.contains(ExecutorOutageBegan("orders", "1", 1, "no answer")))
    assert(rig.executors.health.map { case (id, of) => id -> of.bufferBytes } == Map("1" -> 1024L, "2" -> 0L))
    assert(rig.executors.openShards == Map(shard(0).stream -> 2))
    assert(rig.executors.shards.toSet ==
      Set(ShardFigures(shard(0), 0, Some("1")), ShardFigures(shard(1), 5000, Some("2"))))
    rig.report("1")
    assert(rig.events.all.contains(ExecutorOutageEnded("orders", "1", 6000)))
  }

  test("an executor without consumers may reach a stream") {
    val rig = new Rig
    rig.begin(0 -> None)
    rig.report("1", Seq(rig.fetched(0)))
    Seq("1", "2").foreach(rig.report(_, unreachable = Set("orders")))
    assert(rig.executors.avoidUnreachable(Seq("1", "2", "3"))("orders") == Set("1"))
  }

  test("the end of a batch has the ends of the attempts that succeeded, and not those of other attempts") {
    val rig = new Rig
    val (first, retried, speculative, again) =
      (rig.ended(1, rows = 10), rig.ended(2, rows = 20), rig.ended(3, rows = 30), rig.ended(4, rows = 40))
    assert(rig.executors.takeEnds(Seq(4, 1)) == Seq(again, first))
    Seq(retried, speculative).foreach { other =>
      intercept[IllegalStateException](rig.executors.takeEnds(Seq(other.epoch)))
    }
    // Two tasks of the source in one task of Spark, as after coalesce, have one epoch.
    rig.ended(6, rows = 1)
    rig.ended(6, rows = 2)
    assert(rig.executors.takeEnds(Seq(6, 6)).map(_.end.rows) == Seq(3))
    // An attempt that was killed may still send its end when the next batch runs.
    rig.ended(3, rows = 31)
    val next = rig.ended(5, rows = 50)
    assert(rig.executors.takeEnds(Seq(5)) == Seq(next))
    assert(rig.executors.takeEnds(Nil) == Nil)
  }

  test("a batch does not end with an end that did not arrive") {
    val rig = new Rig
    rig.ended(1, rows = 10)
    val missing = intercept[IllegalStateException](rig.executors.takeEnds(Seq(1, 2)))
    assert(missing.getMessage.contains("attempt 2"))
  }

  test("an executor with another version of the connector ends the batch, and then the query") {
    Seq[(Rig, Array[Byte]) => Unit](
      (rig, other) => rig.executors.onRegister(other, _ => (), "address-3"),
      (rig, other) => rig.executors.onMessage(other)
    ).foreach { send =>
      val rig = new Rig
      rig.ended(1, rows = 10)
      send(rig, OtherMessage.of("9.8.7", ProtocolCodec.Format + 1))
      assert(rig.sent.collect { case (id, EndTasks) => id } == Seq("1", "2"))
      Seq(
        intercept[KinesisConnectorException](rig.executors.takeEnds(Seq(1))),
        intercept[KinesisConnectorException](rig.begin(0 -> None))
      ).foreach { error =>
        assert(error.condition == "KINESIS_VERSIONS_DIFFER" && error.getMessage.contains("9.8.7"))
      }
    }
  }

  test("a task that begins while the last batch is ended is told to end when its executor reports") {
    val rig = new Rig
    rig.report("1")
    assert(rig.sent.collect { case (id, EndTasks) => id }.isEmpty)
    rig.executors.endForGood()
    assert(rig.sent.collect { case (id, EndTasks) => id } == Seq("1", "2"))
    rig.report("2")
    assert(rig.sent.collect { case (id, EndTasks) => id } == Seq("1", "2", "2"))
  }
}
