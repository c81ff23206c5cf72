package org.sparkkinesis.aws.reading

import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.aws.client.WithEmulator
import org.sparkkinesis.chunk.{ChunkBuilder, DecodeSettings}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout._
import org.sparkkinesis.consume.poll.{PollingPublisherFactory, PollingSettings}
import org.sparkkinesis.consume.{
  MissingResource, PrefetchBuffer, RangeEnd, RangeReader, RecordBatch, RecordSubscriber, ShardConsumers
}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.ServiceException

/** Enhanced fan-out with real threads, the real SDK and real HTTP/2 connections. */
class FanOutWithEmulatorSuite extends WithEmulator {
  private class Reading(stream: String, shardCount: Int, bufferBytes: Long = 64L << 20) extends AutoCloseable {
    val arn: String = emulator.admin.createStream(stream, shardCount)
    val scheduler = new SystemScheduler("fan-out", 2)
    val registrar =
      new StreamConsumerRegistrar(service, scheduler, RetryPolicies.of(Options.defaults), RetryRules.Default)
    val consumerArn: String = await(registrar.ensure(arn, "test"))
    val metrics = new ConsumerMetrics
    val listener = new RecordingListener
    val publishers = new FanOutPublisherFactory(
      _ => service,
      _ => consumerArn,
      FanOutSettings.Standard,
      RetryPolicies.of(Options.defaults),
      RetryRules.Default,
      scheduler,
      metrics
    )
    val consumers = new ShardConsumers(
      publishers,
      new PrefetchBuffer(bufferBytes),
      DecodeSettings.of(Options.defaults),
      listener,
      metrics
    )

    def shard(index: Long): StreamShard = StreamShard(arn, ShardId.ofIndex(index))
    def shards: Seq[StreamShard] = emulator.admin.shards(stream).map(s => StreamShard(arn, s.id))
    def rows: Int = shards.map(listener.rows).sum
    def texts(shard: StreamShard): Seq[String] = listener.chunks.asScala.get(shard).toSeq.flatMap { told =>
      Rows.held(consumers.read(shard, TrimHorizon, told.last.last).get)
    }
    override def close(): Unit = {
      consumers.stopAll()
      scheduler.close()
    }
  }

  test("existing and new records are pushed in order over one subscription per shard") {
    Using.resource(new Reading("pushed", 3)) { r =>
      val texts = (1 to 3000).map(_.toString)
      put("pushed", texts.take(1500))
      r.shards.foreach(r.consumers.start(_, TrimHorizon, 1))
      r.listener.awaitUntil(s"${r.rows} rows")(r.rows == 1500)
      put("pushed", texts.drop(1500))
      r.listener.awaitUntil(s"${r.rows} rows")(r.rows == 3000)
      r.shards.foreach { shard =>
        val read = r.texts(shard)
        assert(read == read.sortBy(_.toInt))
        assert(
          read ==
            emulator.admin.records("pushed", shard.shard.value).map(record => new String(record.data, "UTF-8")).toSeq
        )
      }
      assert(emulator.calls.count("SubscribeToShard", "pushed") == 3L)
      assert(emulator.calls.count("GetRecords", "pushed") == 0L)
    }
  }

  test("closed shards and a live split end with their children after their records") {
    Using.resource(new Reading("split-live", 1)) { r =>
      put("split-live", (1 to 100).map(_.toString))
      emulator.admin.splitShard("split-live", ShardId.ofIndex(0).value)
      put("split-live", (101 to 200).map(_.toString))
      r.shards.foreach(r.consumers.start(_, TrimHorizon, 1))
      r.listener.awaitUntil(s"${r.rows} rows, ${r.listener.ends}")(r.rows == 200 &&
        r.listener.ends.containsKey(r.shard(0)))
      assert(r.listener.ends.get(r.shard(0)).map(_.id) == Seq(1L, 2L).map(ShardId.ofIndex))
      emulator.admin.mergeShards("split-live", ShardId.ofIndex(1).value, ShardId.ofIndex(2).value)
      r.listener.awaitUntil(s"${r.listener.ends}")(r.listener.ends.size == 3)
      assert(
        r.listener.ends.get(r.shard(1)).map(c => (c.id, c.parents.toSet)) ==
          Seq((ShardId.ofIndex(3), Set(1L, 2L).map(ShardId.ofIndex)))
      )
      r.consumers.start(r.shard(3), TrimHorizon, 1)
      put("split-live", (201 to 300).map(_.toString))
      r.listener.awaitUntil(s"${r.rows} rows")(r.rows == 300)
      assert(r.shards.flatMap(r.texts).sortBy(_.toInt) == (1 to 300).map(_.toString))
    }
  }

  test("polling returns the same rows as the records prefetched by fan-out") {
    Using.resource(new Reading("mixed", 1)) { r =>
      put("mixed", (1 to 500).map(_.toString), _ => "k")
      r.consumers.start(r.shard(0), TrimHorizon, 1)
      r.listener.awaitUntil(s"${r.rows} rows")(r.rows == 500)
      val numbers = emulator.admin.records("mixed").map(record => SequenceNumber(record.sequenceNumber))
      val polling = new PollingPublisherFactory(
        _ => service,
        PollingSettings.of(Options.defaults).copy(maxFetchesPerSecond = 1000),
        RetryPolicies.of(Options.defaults),
        RetryRules.Default,
        r.scheduler,
        r.metrics
      )
      val chunks = new ChunkBuilder(DecodeSettings.of(Options.defaults), None, r.metrics)
      val range =
        new RangeReader(polling, r.shard(0), AfterSequenceNumber(numbers(100)), RangeEnd.At(numbers(400)), chunks)
      assert(
        Rows.texts(range.toSeq) ==
          Rows.held(r.consumers.read(r.shard(0), AfterSequenceNumber(numbers(100)), numbers(400)).get)
      )
    }
  }

  test("a full buffer pauses the subscription within its limit, a release resumes it, and nothing is lost") {
    Using.resource(new Reading("overload", 2, bufferBytes = 400000)) { r =>
      val texts = (1 to 10000).map(i => f"$i%06d" + "x" * 1000)
      put("overload", texts)
      r.shards.foreach(r.consumers.start(_, TrimHorizon, 1))
      var read = Vector.empty[String]
      var largest = 0L
      val position = scala.collection.mutable.Map.from(r.shards.map(s => s -> (TrimHorizon: StartingPosition)))
      r.listener.awaitUntil(s"${read.size} rows") {
        largest = math.max(largest, r.consumers.buffer.usedBytes)
        for (s <- r.shards; last <- r.consumers.snapshot(s).get.chunks.lastOption) {
          read ++= Rows.held(r.consumers.read(s, position(s), last.last).get)
          position(s) = AfterSequenceNumber(last.last)
          r.consumers.release(s, last.last)
        }
        read.size >= texts.size
      }
      assert(read.sorted == texts.toVector)
      assert(emulator.calls.count("SubscribeToShard", "overload") == 2L)
    }
  }

  test("a deregistered consumer is not the end of the shard") {
    Using.resource(new Reading("deregistered", 1)) { r =>
      r.consumers.start(r.shard(0), TrimHorizon, 1)
      r.listener.awaitUntil("begun")(r.listener.readUpTo.containsKey(r.shard(0)))
      await(r.registrar.deregisterOwn(10.seconds))
      val gone = intercept[AssertionError](r.listener.awaitUntil("the failure")(false))
      assert(
        MissingResource.of(r.listener.failures.get(r.shard(0))) ==
          Some(MissingResource.Consumer),
        gone.getMessage
      )
      assert(r.listener.ends.isEmpty)
    }
  }

  test("a consumer that restarts immediately waits until the service accepts it and continues at its last record") {
    Using.resource(new Reading("again", 1)) { r =>
      put("again", Seq("a", "b"), _ => "k")
      r.consumers.start(r.shard(0), TrimHorizon, 1)
      r.listener.awaitUntil(s"${r.rows} rows")(r.rows == 2)
      val last = r.listener.chunks.get(r.shard(0)).last.last
      r.consumers.stop(r.shard(0))
      r.consumers.start(r.shard(0), AfterSequenceNumber(last), 2)
      put("again", Seq("c"), _ => "k")
      r.listener.awaitUntil(s"${r.rows} rows")(r.rows == 3)
      val read = r.consumers.read(r.shard(0), AfterSequenceNumber(last), r.listener.chunks.get(r.shard(0)).last.last)
      assert(read.map(Rows.held(_)) == Some(Seq("c")))
    }
  }

  test("a consumer that blocks in its callback does not block event loops, other shards or requests") {
    Using.resource(new Reading("blocked", 4)) { r =>
      val release = new CountDownLatch(1)
      val threads = java.util.concurrent.ConcurrentHashMap.newKeySet[String]
      val blocking = new RecordSubscriber {
        override def onBatch(batch: RecordBatch): Unit = {
          threads.add(Thread.currentThread.getName)
          release.await()
        }
        override def onShardEnd(children: Seq[ChildShard]): Unit = ()
        override def onError(error: ServiceException): Unit = ()
      }
      put("blocked", (1 to 400).map(_.toString))
      val stuck = r.publishers.subscribe(r.shard(0), TrimHorizon, blocking)
      try {
        stuck.request(1)
        (1L to 3L).map(r.shard).foreach(r.consumers.start(_, TrimHorizon, 1))
        val others = 400 - emulator.admin.records("blocked", r.shard(0).shard.value).size
        r.listener.awaitUntil(s"${r.rows} of $others rows")(r.rows == others)
        assert(await(service.describeStream(ref("blocked"))).openShards == 4)
        // One thread of the scheduler is blocked, and the other shards share the remaining one. No thread of the client
        // is blocked.
        assert(threads.asScala.forall(_.startsWith("fan-out-")), threads.toString)
      } finally {
        release.countDown()
        stuck.cancel()
      }
    }
  }

  /** Number of subscriptions at the same time. */
  protected def many: Int = 1000

  test("many subscriptions share a few connections") {
    Using.resource(new Reading("wide", many)) { r =>
      val shards = r.shards
      shards.foreach(r.consumers.start(_, TrimHorizon, 1))
      put("wide", (1 to 4000).map(_.toString))
      r.listener.awaitUntil(s"${r.listener.totalRows} rows")(r.listener.totalRows.get == 4000)
      assert(shards.flatMap(r.texts).sortBy(_.toInt) == (1 to 4000).map(_.toString))
      assert(emulator.calls.count("SubscribeToShard", "wide") == many.toLong)
    }
  }
}
