package org.sparkkinesis.aws.reading

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.aws.client.WithEmulator
import org.sparkkinesis.chunk.{ChunkBuilder, DecodeSettings}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.poll.{PollingPublisherFactory, PollingSettings}
import org.sparkkinesis.consume.{MissingResource, PrefetchBuffer, RangeEnd, RangeReader, ShardConsumers}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/** Consumers and range readers with real threads, the real SDK and real connections. */
class PollingWithEmulatorSuite extends WithEmulator {
  private val fast =
    PollingSettings.of(Options.defaults).copy(
      minFetchPeriod = 20.millis,
      maxFetchesPerSecond = 1000,
      readBytesPerSecond = 1L << 40
    )

  private class Reading(polling: PollingSettings = fast, bufferBytes: Long = 64L << 20) extends AutoCloseable {
    val scheduler = new SystemScheduler("test", 2)
    val metrics = new ConsumerMetrics
    val listener = new RecordingListener
    val publishers =
      new PollingPublisherFactory(
        _ => service,
        polling,
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

    def range(shard: StreamShard, after: StartingPosition, end: RangeEnd): Seq[String] =
      Rows.texts(new RangeReader(
        publishers,
        shard,
        after,
        end,
        new ChunkBuilder(DecodeSettings.of(Options.defaults), None, metrics)
      ).toSeq)
    override def close(): Unit = {
      consumers.stopAll()
      scheduler.close()
    }
  }
  private def shard(stream: String, index: Long) = StreamShard(stream, ShardId.ofIndex(index))

  test("prefetched records and a direct read give the same rows for every range") {
    emulator.admin.createStream("ranges", 1)
    val all = (1 to 1000).map(_.toString)
    put("ranges", all, _ => "k")
    Using.resource(new Reading(fast.copy(maxRecordsPerFetch = 100))) { r =>
      val s = shard("ranges", 0)
      r.consumers.start(s, TrimHorizon, 1)
      r.listener.awaitUntil(r.listener.rows(s).toString)(r.listener.rows(s) == 1000)
      val numbers = emulator.admin.records("ranges", s.shard.value).map(record => SequenceNumber(record.sequenceNumber))
      for ((from, to) <- Seq((0, 1), (0, 999), (99, 100), (100, 101), (250, 749), (998, 999))) {
        val memory = r.consumers.read(s, AfterSequenceNumber(numbers(from)), numbers(to)).map(Rows.held(_))
        assert(memory == Some(all.slice(from + 1, to + 1)))
        assert(r.range(s, AfterSequenceNumber(numbers(from)), RangeEnd.At(numbers(to))) == memory.get)
      }
      assert(r.range(s, TrimHorizon, RangeEnd.ArrivedBy(System.currentTimeMillis())) == all)
    }
  }

  test("a history of splits and merges is read from its closed shards to the tip with each record once") {
    emulator.admin.createStream("resharded", 2)
    val texts = (1 to 900).map(_.toString)
    put("resharded", texts.slice(0, 300))
    emulator.admin.splitShard("resharded", ShardId.ofIndex(0).value)
    put("resharded", texts.slice(300, 600))
    emulator.admin.mergeShards("resharded", ShardId.ofIndex(3).value, ShardId.ofIndex(1).value)
    put("resharded", texts.slice(600, 900))
    Using.resource(new Reading) { r =>
      val shards = emulator.admin.shards("resharded").map(s => StreamShard("resharded", s.id))
      shards.foreach(r.consumers.start(_, TrimHorizon, 1))
      def rows = shards.map(r.listener.rows).sum
      val closed = emulator.admin.shards("resharded").filterNot(_.isOpen).map(s => StreamShard("resharded", s.id))
      r.listener.awaitUntil(s"$rows rows, ends ${r.listener.ends}")(rows >= 900 &&
        closed.forall(r.listener.ends.containsKey))
      val read = shards.flatMap { s =>
        r.listener.chunks.asScala.get(s).toSeq.flatMap(c =>
          Rows.held(r.consumers.read(s, TrimHorizon, c.last.last).get)
        )
      }
      assert(read.sortBy(_.toInt) == texts)
      assert(r.listener.ends.keySet.asScala.toSet == closed.toSet)
      closed.foreach { s =>
        assert(
          r.range(s, TrimHorizon, RangeEnd.ShardEnd) ==
            Rows.held(r.consumers.read(s, TrimHorizon, r.listener.chunks.get(s).last.last).get)
        )
      }
    }
  }

  test("a planned record that was never in the stream is reported as data loss without waiting") {
    emulator.admin.createStream("lossy", 1)
    put("lossy", Seq("a", "b"), _ => "k")
    Using.resource(new Reading) { r =>
      val last = SequenceNumber(emulator.admin.records("lossy").last.sequenceNumber)
      val beyond = SequenceNumber((BigInt(last.value) + 1000).toString)
      val error = intercept[KinesisConnectorException](r.range(shard("lossy", 0), TrimHorizon, RangeEnd.At(beyond)))
      assert(error.condition == "KINESIS_DATA_LOSS")
    }
  }

  test("at the tip of idle shards calls have the configured period, and a record is read within it") {
    emulator.admin.createStream("idle", 2)
    Using.resource(new Reading(PollingSettings.of(Options.defaults).copy(minFetchPeriod = 250.millis))) { r =>
      val shards = Seq(shard("idle", 0), shard("idle", 1))
      shards.foreach(r.consumers.start(_, TrimHorizon, 1))
      r.listener.awaitUntil("begun")(shards.forall(r.listener.readUpTo.containsKey))
      val from = System.nanoTime
      val before = emulator.calls.count("GetRecords", "idle")
      val until = System.currentTimeMillis + 2000
      r.listener.awaitUntil("read on")(shards.forall(r.listener.readUpTo.get(_) >= until))
      val perShard = (emulator.calls.count("GetRecords", "idle") - before) / 2.0
      val seconds = (System.nanoTime - from) / 1e9
      // One call for the edge of the interval, and one that may have been in flight on a busy machine.
      assert(perShard <= seconds * 4 + 2, s"$perShard calls in $seconds s")
      assert(emulator.calls.count("GetShardIterator", "idle") == 2L)
      put("idle", Seq("x"))
      r.listener.awaitUntil("the record")(shards.map(r.listener.rows).sum == 1)
    }
  }

  test("a missing stream fails the consumer with the error of the stream") {
    Using.resource(new Reading) { r =>
      val s = shard("nowhere", 0)
      r.consumers.start(s, TrimHorizon, 1)
      val error = intercept[AssertionError](r.listener.awaitUntil("failure")(false))
      assert(MissingResource.of(r.listener.failures.get(s)) == Some(MissingResource.Stream), error.getMessage)
    }
  }

  test("a slow reader with a small buffer gets all records in limited memory") {
    emulator.admin.createStream("small", 4)
    val texts = (1 to 4000).map(i => f"$i%05d" + "x" * 500)
    put("small", texts)
    Using.resource(new Reading(bufferBytes = 200000)) { r =>
      val shards = (0L to 3L).map(shard("small", _))
      shards.foreach(r.consumers.start(_, TrimHorizon, 1))
      var read = Vector.empty[String]
      var largest = 0L
      val position = scala.collection.mutable.Map.from(shards.map(s => s -> (TrimHorizon: StartingPosition)))
      r.listener.awaitUntil(s"${read.size} rows") {
        largest = math.max(largest, r.consumers.buffer.usedBytes)
        for (s <- shards; last <- r.consumers.snapshot(s).get.chunks.lastOption) {
          read ++= Rows.held(r.consumers.read(s, position(s), last.last).get)
          position(s) = AfterSequenceNumber(last.last)
          r.consumers.release(s, last.last)
        }
        read.size >= 4000
      }
      assert(read.sorted == texts.toVector)
      // The limit is soft: each shard can exceed it by one batch of its fair share.
      assert(largest <= 400000, largest)
    }
  }
}
