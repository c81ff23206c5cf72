package org.sparkkinesis.bench

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.json.Json
import org.sparkkinesis.model.{KinesisQuotas, StreamRef}
import org.sparkkinesis.sink.kinesis._
import org.sparkkinesis.sink.{SharedTimer, SinkMetrics}

/**
 * Writers that always have more than the stream takes, against the emulator's enforced quotas: what part of the capacity is
 * used once it has settled, what part of the sent records is refused, how soon added shards are used, and what a hot key
 * costs the other shards. Our own limits beside Flink's and Hazelcast's strategies as implemented here.
 */
object FlowControlBenchmark {
  private val Ours = "aimd with shard limits"
  private val Shards = 4
  private val SettlingTime = 10.seconds
  private val GrowthTime = 30.seconds

  private val ways: Seq[(String, KinesisSinkSettings)] = Seq(
    Ours -> KinesisSinkSettings(),
    "aimd (Flink)" -> KinesisSinkSettings(shardLimits = false),
    "batchAndDelay (Hazelcast)" -> KinesisSinkSettings(rateLimiting = "batchAndDelay", shardLimits = false),
    "none" -> KinesisSinkSettings(rateLimiting = "none", shardLimits = false)
  )

  def main(args: Array[String]): Unit = {
    val arguments = new Arguments(args)
    val fixed = ways.size * SettlingTime.toSeconds + GrowthTime.toSeconds + 10 + 4 * SettlingTime.toSeconds
    val window = math.max(5, (arguments.seconds(200) - fixed) / (ways.size + 5)).seconds
    val emulator = new WriteTarget(quotas = true)
    try println(Json.render(new FlowControlBenchmark(emulator, window).run()))
    finally emulator.close()
  }
}

final private class FlowControlBenchmark(emulator: WriteTarget, window: FiniteDuration) {
  import FlowControlBenchmark._

  private var streams = 0

  def run(): Json = {
    val settled = ways.map { case (name, settings) => name -> settle(settings) }
    val ours = settled.head._2
    val (alone, beside) = othersBesideHotKey(KinesisSinkSettings())
    val (unlimitedAlone, unlimitedBeside) = othersBesideHotKey(KinesisSinkSettings(shardLimits = false))
    Json.obj(
      "benchmark" -> Json.Str("flow-control"),
      "settled_vs_capacity" -> number(ours.share),
      "refused_share" -> number(ours.refused),
      "grown_vs_capacity" -> number(grow()),
      "others_with_hot_key" -> number(beside / alone),
      "others_with_hot_key_without_shard_limits" -> number(unlimitedBeside / unlimitedAlone),
      "othersPerSecond" -> Json.num(alone.toLong),
      "othersPerSecondBesideHotKey" -> Json.num(beside.toLong),
      "windowSeconds" -> Json.num(window.toSeconds),
      "strategies" -> Json.obj(settled.map { case (name, found) => name -> found.toJson }: _*)
    )
  }

  private case class Settled(perSecond: Double, capacity: Double, refused: Double, requestsPerSecond: Double) {
    def share: Double = perSecond / capacity
    def toJson: Json = Json.obj(
      "settled_vs_capacity" -> number(share),
      "refused_share" -> number(refused),
      "recordsPerSecond" -> Json.num(perSecond.toLong),
      "requestsPerSecond" -> number(requestsPerSecond)
    )
  }

  private def settle(settings: KinesisSinkSettings): Settled = onStream(Shards) { stream =>
    val load = new Load(stream, settings, Seq.fill(2)(spreadKeys))
    Thread.sleep(SettlingTime.toMillis)
    val found = load.over(window)
    load.stop()
    val seconds = window.toMillis / 1e3
    Settled(
      found.entriesOut / seconds,
      Shards.toDouble * KinesisQuotas.Shard.WriteRecordsPerSecond,
      found.throttled.toDouble / math.max(1L, found.entriesSent),
      found.requests / seconds
    )
  }

  /** What part of the new capacity is used 30 seconds after the shards were doubled. */
  private def grow(): Double = onStream(Shards) { stream =>
    val load = new Load(stream, KinesisSinkSettings(), Seq.fill(2)(spreadKeys))
    Thread.sleep(SettlingTime.toMillis)
    emulator.sdk
      .updateShardCount { request =>
        request.streamName(stream).targetShardCount(2 * Shards).scalingType("UNIFORM_SCALING"); ()
      }
      .get()
    Thread.sleep(GrowthTime.toMillis)
    val found = load.over(window)
    load.stop()
    found.entriesOut / (window.toMillis / 1e3) / (2.0 * Shards * KinesisQuotas.Shard.WriteRecordsPerSecond)
  }

  /** Throughput of three shards' keys, without and with a hot key in the fourth shard. */
  private def othersBesideHotKey(settings: KinesisSinkSettings): (Double, Double) = {
    def others(hot: Boolean): Double = onStream(Shards) { stream =>
      val quiet = new Load(stream, settings, Seq(coldKeys))
      val loud = Option.when(hot)(new Load(stream, settings, Seq(hotKey)))
      Thread.sleep(SettlingTime.toMillis)
      val found = quiet.over(window)
      quiet.stop()
      loud.foreach(_.stop())
      found.entriesOut / (window.toMillis / 1e3)
    }
    (others(hot = false), others(hot = true))
  }

  private def spreadKeys: Long => SinkRecord = n => new SinkRecord(s"key-$n", None, payload)
  private def hotKey: Long => SinkRecord = _ => new SinkRecord("hot", Some("0"), payload)

  /** Over the upper three quarters of the key space. */
  private def coldKeys: Long => SinkRecord = n =>
    new SinkRecord(
      s"key-$n",
      Some((Quarter + (HashPoint.ofPartitionKey(s"key-$n").toBigInt % (Quarter * 3))).toString),
      payload
    )

  private val Quarter = BigInt(1) << 126
  private val payload = new Array[Byte](200)

  private def onStream[A](shards: Int)(body: String => A): A = {
    streams += 1
    val stream = s"flow-$streams"
    emulator.createStream(stream, shards)
    try body(stream)
    finally emulator.deleteStream(stream)
  }

  private def number(value: Double): Json.Num = Json.Num(BigDecimal(value).setScale(3, BigDecimal.RoundingMode.HALF_UP))

  /** Writers that never run out, one thread each, until stopped. */
  final private class Load(stream: String, settings: KinesisSinkSettings, keys: Seq[Long => SinkRecord]) {
    private val timer = SharedTimer.acquire()
    private val sinks = keys.map(_ =>
      KinesisStreamSink.open(emulator.lease.service, StreamRef.ByName(stream), emulator.endpoint, settings, timer)
    )
    @volatile private var running = true
    private val tasks = sinks.lazyZip(keys).map { (sink, key) =>
      CompletableFuture.runAsync(
        () => {
          var n = 0L
          while (running) {
            sink.write(key(n))
            n += 1
          }
          sink.flush()
        },
        command => new Thread(command).start()
      )
    }

    def over(time: FiniteDuration): SinkMetrics = {
      val before = sinks.map(_.metrics.requests).reduce(_ + _)
      Thread.sleep(time.toMillis)
      val after = sinks.map(_.metrics.requests).reduce(_ + _)
      before.until(after)
    }

    def stop(): Unit = {
      running = false
      tasks.foreach(_.get())
      sinks.foreach(_.close())
      timer.close()
    }
  }
}
