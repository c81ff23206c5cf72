package org.sparkkinesis.aws.reading

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.WithEmulator
import org.sparkkinesis.chunk.DecodeSettings
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.poll.{PollingPublisherFactory, PollingSettings}
import org.sparkkinesis.consume.{PrefetchBuffer, ProgressListener, ShardConsumers}
import org.sparkkinesis.emulator.EmulatorConfig
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/** Polls a service that enforces its quotas. */
class PollingWithinQuotaSuite extends WithEmulator(EmulatorConfig()) {
  private def consumers(
      scheduler: SystemScheduler,
      listener: ProgressListener,
      metrics: ConsumerMetrics
  ): ShardConsumers = {
    val publishers = new PollingPublisherFactory(
      _ => service,
      PollingSettings.of(Options.defaults),
      RetryPolicies.of(Options.defaults),
      RetryRules.Default,
      scheduler,
      metrics
    )
    new ShardConsumers(
      publishers,
      new PrefetchBuffer(256L << 20),
      DecodeSettings.of(Options.defaults),
      listener,
      metrics
    )
  }

  test("a backlog is read at the quota of the shard without throttling") {
    emulator.admin.createStream("backlog", 1)
    val record = new Array[Byte](8 * 1024)
    (1 to 1000).foreach(_ => emulator.admin.putRecord("backlog", "k", record))
    val scheduler = new SystemScheduler("quota", 2)
    val metrics = new ConsumerMetrics
    val listener = new RecordingListener
    val reading = consumers(scheduler, listener, metrics)
    val shard = StreamShard("backlog", ShardId.ofIndex(0))
    try {
      val from = System.nanoTime
      reading.start(shard, TrimHorizon, 1)
      listener.awaitUntil(s"${listener.rows(shard)} rows")(listener.rows(shard) == 1000)
      val seconds = (System.nanoTime - from) / 1e9
      val perSecond = 1000 * 8 * 1024 / seconds
      assert(metrics.throttles.sum == 0L)
      assert(perSecond < 2.2 * 1024 * 1024, s"$perSecond bytes a second")
    } finally {
      reading.stopAll()
      scheduler.close()
    }
  }

  test("several queries on one shard share its quota, are throttled, and each read all records") {
    emulator.admin.createStream("shared", 1)
    (1 to 200).foreach(i => emulator.admin.putRecord("shared", "k", s"$i".getBytes("UTF-8")))
    val shard = StreamShard("shared", ShardId.ofIndex(0))
    val scheduler = new SystemScheduler("quota", 2)
    val queries = Seq.fill(4) {
      val metrics = new ConsumerMetrics
      val listener = new RecordingListener
      (consumers(scheduler, listener, metrics), listener, metrics)
    }
    try {
      val from = System.nanoTime
      queries.foreach(_._1.start(shard, TrimHorizon, 1))
      val until = System.currentTimeMillis + 5.seconds.toMillis
      queries.foreach { case (_, listener, _) =>
        listener.awaitUntil(s"${listener.rows(shard)} rows")(listener.rows(shard) == 200 &&
          listener.readUpTo.get(shard) >= until)
      }
      assert(queries.map(_._3.throttles.sum).sum > 0)
      val served = emulator.calls.count("GetRecords", "shared", result = "ok")
      val seconds = (System.nanoTime - from) / 1e9
      assert(served <= (seconds + 1) * KinesisQuotas.Shard.GetRecordsPerSecond, s"$served calls served in $seconds s")
    } finally {
      queries.foreach(_._1.stopAll())
      scheduler.close()
    }
  }
}
