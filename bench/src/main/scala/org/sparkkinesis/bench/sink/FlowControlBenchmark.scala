package org.sparkkinesis.bench.sink

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.RateLimitingOption
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.model.hash.HashPoint
import org.sparkkinesis.sink.SinkMetrics
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{KinesisSinkSettings, SharedStreamLimits}

/**
 * Measures writers that always have more records than the stream accepts, against the emulator's enforced quotas: the
 * used share of the capacity once it is stable and the time until then, the share of refused records, the time until
 * added shards are used, the effect of a hot key on the writers to other shards, and the shares of two applications of
 * which one begins later. Compares this project's limits with the strategies of Flink and Hazelcast as implemented
 * here. Two loads of this project's limits run at a time, each on its own stream.
 */
object FlowControlBenchmark {
  private val Ours = "aimd with shard limits"
  private val Shards = 4
  private val SettlingTime = 10.seconds
  private val GrowthTime = 30.seconds

  private val ours = Ours -> KinesisSinkSettings.of(Options.defaults)
  private val hazelcast =
    "batchAndDelay (Hazelcast)" -> KinesisSinkSettings.of(Options.defaults).copy(
      rateLimiting = RateLimitingOption.BatchAndDelay,
      shardLimits = false
    )
  private val flink = "aimd (Flink)" -> KinesisSinkSettings.of(Options.defaults).copy(shardLimits = false)
  private val none = "none" ->
    KinesisSinkSettings.of(Options.defaults).copy(rateLimiting = RateLimitingOption.Unlimited, shardLimits = false)

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val fixed = 8 * SettlingTime.toSeconds + 3 * GrowthTime.toSeconds
    val window = math.max(5, (arguments.seconds(210) - fixed) / 8).seconds
    val emulator = new WriteTarget(quotas = true)
    try println(Json.render(new FlowControlBenchmark(emulator, window).run()))
    finally emulator.close()
  }
}

final private class FlowControlBenchmark(emulator: WriteTarget, window: FiniteDuration) {
  import FlowControlBenchmark._

  private val streams = new java.util.concurrent.atomic.AtomicInteger

  def run(): Json = {
    val first = together(settling(ours), settling(hazelcast))
    val (limited, grown) = both(othersBesideHotKey(Ours, KinesisSinkSettings.of(Options.defaults)), grow())
    // The strategies for comparison refuse most of their records and use much processor time for that, so they run
    // alone.
    val (unlimited, others) =
      both(
        othersBesideHotKey("without shard limits", KinesisSinkSettings.of(Options.defaults).copy(shardLimits = false)),
        together(settling(flink), settling(none))
      )
    val settled = first ++ others
    val (even, evenToo) = both(sharing(ours), sharing(hazelcast))
    Json.obj(
      "settled_vs_capacity" -> number(settled.head._2.share),
      "refused_share" -> number(settled.head._2.refused),
      "settled_after_seconds" -> number(settled.head._2.afterSeconds),
      "share_min" -> number(even.min(evenToo)),
      "share_min_aimd" -> number(even),
      "share_min_batchAndDelay" -> number(evenToo),
      "idle_delay_ms" -> number(idleDelay()),
      "grown_vs_capacity" -> number(grown),
      "others_with_hot_key" -> number(limited.ratio),
      "others_with_hot_key_without_shard_limits" -> number(unlimited.ratio),
      "others" -> limited.toJson,
      "windowSeconds" -> Json.num(window.toSeconds),
      "strategies" -> Json.obj(settled.map { case (name, found) => name -> found.toJson }: _*)
    )
  }

  /**
   * The stable state of one strategy.
   *
   * @param afterSeconds
   *   time in seconds after which every second used 95 % of the capacity with at most 5 % refused; negative for never
   */
  private case class Settled(perSecond: Double, refused: Double, afterSeconds: Double, requestsPerSecond: Double) {
    def share: Double = perSecond / capacity(Shards)
    def toJson: Json = Json.obj(
      "settled_vs_capacity" -> number(share),
      "refused_share" -> number(refused),
      "settled_after_seconds" -> number(afterSeconds),
      "recordsPerSecond" -> Json.num(perSecond.toLong),
      "requestsPerSecond" -> number(requestsPerSecond)
    )
  }

  private def capacity(shards: Int): Double = shards.toDouble * KinesisQuotas.Shard.WriteRecordsPerSecond

  private def both[A, B](one: => A, other: => B): (A, B) = {
    val beside = CompletableFuture.supplyAsync(() => other)
    (one, beside.get())
  }

  private def together(ways: (() => (String, Settled))*): Seq[(String, Settled)] =
    ways.map(way => CompletableFuture.supplyAsync(() => way())).map(_.get())

  private def settling(way: (String, KinesisSinkSettings)): () => (String, Settled) = () =>
    way._1 -> settle(way._1, way._2)

  private def settle(name: String, settings: KinesisSinkSettings): Settled = onStream(Shards) { stream =>
    withLoad(stream, settings, spreadKeys, spreadKeys) { load =>
      val series = load.sample(SettlingTime + window).get()
      tell(name, series)
      val steady = series.drop((SettlingTime / WriteLoad.Interval).toInt)
      Settled(
        WriteLoad.perSecond(steady),
        WriteLoad.refusedShare(steady),
        settledAfter(series),
        steady.map(_.requests).sum / (steady.size * WriteLoad.Interval.toNanos / 1e9)
      )
    }
  }

  /** Prints the accepted records and the refused share, second by second. */
  private def tell(name: String, series: IndexedSeq[SinkMetrics]): Unit =
    println(seconds(series).map { second =>
      f"${WriteLoad.perSecond(second)}%.0f (${WriteLoad.refusedShare(second) * 100}%.0f %%)"
    }.mkString(s"$name: ", ", ", ""))

  private def seconds(series: IndexedSeq[SinkMetrics]): IndexedSeq[IndexedSeq[SinkMetrics]] =
    series.grouped((1.second / WriteLoad.Interval).toInt).toIndexedSeq

  private def settledAfter(series: IndexedSeq[SinkMetrics]): Double = {
    val good = seconds(series).map { second =>
      WriteLoad.perSecond(second) >= 0.95 * capacity(Shards) && WriteLoad.refusedShare(second) <= 0.05
    }
    if (good.last) good.lastIndexWhere(!_) + 1.0 else -1
  }

  /** Returns the smaller share of two applications, of which the second begins later. */
  private def sharing(way: (String, KinesisSinkSettings)): Double = onStream(Shards) { stream =>
    withLoad(stream, way._2, spreadKeys) { first =>
      first.sample(SettlingTime).get()
      val second = new WriteLoad(emulator, stream, way._2, Seq(spreadKeys), new SharedStreamLimits)
      try {
        second.sample(GrowthTime).get()
        // Shares vary around their mean for some seconds, so they are measured over a longer time than a rate.
        val (one, other) = (first.sample(GrowthTime), second.sample(GrowthTime))
        val rates = Seq(one.get(), other.get()).map(WriteLoad.perSecond)
        println(rates.map(_.round).mkString(s"${way._1}, two applications: ", " and ", " records/s"))
        rates.min / rates.sum
      } finally second.close()
    }
  }

  /** Returns the greatest pause of batch-and-delay while a writer stays below the capacity. */
  private def idleDelay(): Double = onStream(1) { stream =>
    val load = new WriteLoad(emulator, stream, hazelcast._2, Seq(spreadKeys), new SharedStreamLimits, 10.millis)
    try load.sample(window).get().map(_.currentLimit).max
    finally load.close()
  }

  /** Returns the used share of the new capacity 30 seconds after the number of shards was doubled. */
  private def grow(): Double = onStream(Shards) { stream =>
    withLoad(stream, KinesisSinkSettings.of(Options.defaults), spreadKeys, spreadKeys) { load =>
      load.sample(SettlingTime).get()
      emulator.sdk
        .updateShardCount { request =>
          request.streamName(stream).targetShardCount(2 * Shards).scalingType("UNIFORM_SCALING"); ()
        }
        .get()
      load.sample(GrowthTime).get()
      WriteLoad.perSecond(load.sample(window).get()) / capacity(2 * Shards)
    }
  }

  private case class Others(before: Double, beside: Double, after: Double) {
    def ratio: Double = beside / ((before + after) / 2)
    def toJson: Json = Json.obj(
      "recordsPerSecondBefore" -> Json.num(before.toLong),
      "recordsPerSecondBesideHotKey" -> Json.num(beside.toLong),
      "recordsPerSecondAfter" -> Json.num(after.toLong)
    )
  }

  /**
   * Measures the throughput of a writer to the keys of three shards before, during and after another writer's hot key
   * in the fourth shard.
   */
  private def othersBesideHotKey(name: String, settings: KinesisSinkSettings): Others = onStream(Shards) { stream =>
    withLoad(stream, settings, coldKeys) { others =>
      def settled(phase: String): Double = {
        others.sample(SettlingTime).get()
        val series = others.sample(window).get()
        tell(s"$name, $phase", series)
        WriteLoad.perSecond(series)
      }
      val before = settled("alone")
      val beside = withLoad(stream, settings, hotKey)(_ => settled("beside a hot key"))
      Others(before, beside, settled("alone again"))
    }
  }

  private def withLoad[A](stream: String, settings: KinesisSinkSettings, keys: (Long => SinkRecord)*)(
      body: WriteLoad => A
  ): A = {
    val load = new WriteLoad(emulator, stream, settings, keys)
    try body(load)
    finally load.close()
  }

  private def spreadKeys: Long => SinkRecord = n => new SinkRecord(s"key-$n", None, payload)
  private def hotKey: Long => SinkRecord = _ => new SinkRecord("hot", Some("0"), payload)

  /** Records whose keys are distributed evenly over the upper three quarters of the key space. */
  private def coldKeys: Long => SinkRecord = n =>
    new SinkRecord(
      s"key-$n",
      Some((Quarter + HashPoint.ofPartitionKey(s"key-$n").toBigInt * 3 / 4).toString),
      payload
    )

  private val Quarter = BigInt(1) << 126
  private val payload = new Array[Byte](200)

  private def onStream[A](shards: Int)(body: String => A): A = {
    val stream = s"flow-${streams.incrementAndGet()}"
    emulator.createStream(stream, shards)
    try body(stream)
    finally emulator.deleteStream(stream)
  }

  private def number(value: Double): Json.Num = Json.Num(BigDecimal(value).setScale(3, BigDecimal.RoundingMode.HALF_UP))
}
