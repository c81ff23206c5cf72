package org.sparkkinesis.spark.read.live

import scala.concurrent.duration._

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.ShardHead
import org.sparkkinesis.model.{ChildShard, SequenceNumber, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.{BatchShards, LiveShard, TaskEnd}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.executor.{LiveConsumers, LiveFeed}
import org.sparkkinesis.spark.read.reader.TestChunks
import org.sparkkinesis.spark.settings.ReadSettings
import org.sparkkinesis.suite.TimedSuite

class LiveReadSuite extends TimedSuite {
  private val shard = StreamShard("orders", ShardId.ofIndex(0))

  /** A task that reads one shard. The consumers hold one chunk and have fetched the shard to its tip. */
  private class Rig {
    val time = new VirtualScheduler
    var held = Option.empty[Chunk]
    var end = Option.empty[Seq[ChildShard]]
    var behind = 0L
    var delivered = Vector.empty[(Long, TaskEnd)]
    var serviceMillis = Option.empty[Long]
    private val consumers = new LiveConsumers {
      override def heard(millis: Long): Unit = serviceMillis = Some(millis)
      override def claim(feed: LiveFeed, shards: Seq[LiveShard], areChildren: Boolean): Unit =
        shards.foreach(one => feed.tell(one.shard))
      override def head(of: StreamShard, from: StartingPosition): Option[ShardHead] = {
        val left = from match {
          case StartingPosition.AfterSequenceNumber(number) => held.flatMap(_.after(number))
          case _ => held
        }
        Some(ShardHead(1, left, if (left.isEmpty) end else None, None, time.currentMillis, behind))
      }
      override def release(of: StreamShard, upTo: SequenceNumber): Unit = ()
      override def finished(of: StreamShard, waiting: Seq[ChildShard]): Unit = ()
      override def deliver(epoch: Long, end: TaskEnd): Unit = delivered :+= epoch -> end
      override def leave(feed: LiveFeed): Unit = ()
    }
    lazy val reading: LiveRead = {
      val task =
        LiveTask(
          Vector(LiveShard(shard, "orders", ShardPosition.Horizon, None)),
          Set.empty,
          BatchShards.Empty,
          Array.empty,
          serviceMillis = 7
        )
      val environment = new VirtualEnvironment(time, new FakeDirectory(time))
      new LiveRead(task, consumers, 1, ReadSettings(Options.defaults, Map.empty), environment)
    }

    def hold(arrivals: Long*): Unit =
      held = Some(TestChunks.chunk(
        0,
        arrivals.zipWithIndex.map { case (at, i) => TestChunks.plain(i + 1, "x", arrival = at) }: _*
      ))

    def lag: Option[Long] = reading.outcomes.head.lagMillis
  }

  test("the lag is the age of the oldest record that was not handed over, however far the shard is fetched") {
    val rig = new Rig
    val now = rig.time.currentMillis
    rig.hold(now - 9000, now - 5000, now - 1000)
    assert(rig.lag.contains(9000L))
    assert(rig.reading.next(0))
    assert(rig.lag.contains(5000L))
    rig.time.advance(1.second)
    assert(rig.reading.next(0))
    assert(rig.lag.contains(2000L))
  }

  test("a shard is read up to the next record, or up to the last response") {
    val rig = new Rig
    val now = rig.time.currentMillis
    rig.hold(now - 9000, now - 5000)
    def readUpTo = rig.reading.outcomes.head.readUpToMillis
    assert(readUpTo == now - 9001)
    assert(rig.reading.next(0))
    assert(readUpTo == now - 5001)
    assert(rig.reading.next(0))
    assert(readUpTo == now)
  }

  test("the consumers hear the time of the service, because the driver's messages may be lost") {
    val rig = new Rig
    assert(!rig.reading.next(0))
    assert(rig.serviceMillis.contains(7L))
  }

  test("without buffered records the lag is what the service reports, and a finished shard has none") {
    val rig = new Rig
    rig.hold(rig.time.currentMillis - 9000)
    rig.behind = 700
    assert(rig.reading.next(0))
    assert(rig.lag.contains(700L))
    rig.end = Some(Nil)
    assert(!rig.reading.next(0))
    assert(rig.lag.isEmpty)
  }

  test("the end that the driver receives has the position after the last row, and the name of the attempt") {
    val rig = new Rig
    val now = rig.time.currentMillis
    rig.hold(now - 3000, now - 2000, now - 1000)
    assert(rig.reading.next(0) && rig.reading.next(0))
    assert(rig.reading.deliverEnd() == 1)
    val Vector((epoch, end)) = rig.delivered: @unchecked
    assert(epoch == 1 && end.rows == 2 && end.childrenBegun == 0 && end.handOver.counts.sum == 3)
    assert(end.outcomes.map(of => of.shard -> of.position) ==
      Vector(shard -> ShardPosition.After(rig.held.get.sequenceNumber(1), now - 2000)))
  }
}
