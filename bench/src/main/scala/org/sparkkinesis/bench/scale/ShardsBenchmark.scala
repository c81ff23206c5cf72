package org.sparkkinesis.bench.scale

import java.util.concurrent.TimeUnit

import scala.util.Using

import org.sparkkinesis.aws.client.SdkClients
import org.sparkkinesis.bench.latency.ProducerProcess
import org.sparkkinesis.bench.source.{ReadingLoops, ReadingStream}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.poll.PollingSettings
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.EmulatorProcess
import org.sparkkinesis.model.{ShardId, StreamRef, StreamShard}

/**
 * Measures the consumers of many shards in one JVM with the connector's default settings and the service's quotas:
 * `ShardsBenchmark [--seconds N] [--shards N]`. The emulator and the producer have JVMs of their own.
 *
 * The last line is one JSON object with, for polling and for fan-out: seconds until every shard has answered, heap per
 * shard after a collection, threads, and CPU time per shard and second without records and with one record per shard
 * and second. `quarter` has the same figures for a quarter of the shards, to show the growth.
 */
object ShardsBenchmark {

  /** Records per second and shard of the slow traffic. */
  private val Rate = 1

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val shards = arguments.number("shards", 1000)
    // Two modes, two numbers of shards, without records and with them; each needs as long again to settle.
    val seconds = math.max(2, arguments.seconds(160) / 16)
    Using.resource(new EmulatorProcess("4g", quotas = true, processor = Some(0))) { emulator =>
      val quarter = run(emulator, shards / 4, seconds)
      val all = run(emulator, shards, seconds)
      println(Json.render(Json.obj(all :+ ("quarter" -> Json.obj(quarter: _*)): _*)))
    }
  }

  private def run(emulator: EmulatorProcess, shards: Int, seconds: Int): Seq[(String, Json)] = {
    val stream = s"shards-$shards"
    emulator.createStream(stream, shards)
    val service = SdkClients.create(ReadingStream.settings(emulator.endpoint))
    val scheduler = new SystemScheduler("bench", 2)
    try {
      val arn = service.describeStream(StreamRef.ByName(stream)).get(1, TimeUnit.MINUTES).arn
      val consumer = ReadingStream.registerConsumer(service, scheduler, arn, "scale")
      val polling = ReadingLoops.polling(service, scheduler, PollingSettings.of(Options.defaults))
      val fanOut = ReadingLoops.fanOut(service, consumer, scheduler)
      val names = (0 until shards).map(i => StreamShard(arn, ShardId.ofIndex(i.toLong)))
      // Fan-out comes first, because it needs few threads and those of polling stay in the pool for a while.
      val found = Seq("efo" -> fanOut, "polling" -> polling).flatMap { case (mode, publishers) =>
        new ShardsPhase(mode, names, seconds).run(publishers)(
          new ProducerProcess(emulator.endpoint, stream, shards * Rate)
        )
      }
      ("shards" -> Json.num(shards.toLong)) +: found
    } finally {
      scheduler.close()
      service.close()
    }
  }
}
