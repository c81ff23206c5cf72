package org.sparkkinesis.bench.source

import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.SdkClients
import org.sparkkinesis.bench.Rounds
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.{EmulatorProcess, Processors}
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/**
 * Measures the connector's consumers without Spark against bare loops that only count, side by side in one run:
 * `ConsumeBenchmark [--seconds N] [--records N] [--shards N] [--mode polling|efo|both] [--only NAME,NAME]`.
 * The last line is one JSON object, see [[org.sparkkinesis.bench.Rounds]].
 */
object ConsumeBenchmark {
  import ReadingStream._
  import Rounds._

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val records = arguments.number("records", 1000000)
    val shards = arguments.number("shards", 4)
    val seconds = arguments.seconds(90)
    val mode = arguments.text("mode", "both")
    Processors.moveSelfTo(1)
    val emulator = new EmulatorProcess("4g", processor = Some(0))
    val service = SdkClients.create(settings(emulator.endpoint))
    val scheduler = new SystemScheduler("bench", 2)
    val bare = new BareClients(emulator.endpoint)
    try {
      val arn = load(bare.http2, shards, records)
      val polling = ReadingLoops.polling(service, scheduler)
      val pollingLoops = bare.pollingLoops(shards) ++ Seq(
        new PublisherLoop("polling_publisher", polling, Name, shards),
        new ConsumersLoop("polling_consumers", polling, Name, shards)
      )
      val consumerArn = new StreamConsumerRegistrar(
        service,
        scheduler,
        RetryPolicies.of(Options.defaults),
        RetryRules.Default
      ).ensure(arn, "bench").get(1, TimeUnit.MINUTES)
      val fanOut = ReadingLoops.fanOut(service, consumerArn, scheduler)
      val fanOutLoops = Seq(
        new SdkFanOutLoop("efo_sdk", bare.http2, () => consumerArn, shards),
        new PublisherLoop("efo_publisher", fanOut, Name, shards),
        new ConsumersLoop("efo_consumers", fanOut, Name, shards)
      )
      // The service refuses another subscription within five seconds, so every reader by fan-out waits that long.
      val kinds = Seq(
        "polling" -> (pollingLoops, Duration.Zero),
        "efo" -> (fanOutLoops, KinesisQuotas.Lifetime.SubscriptionTakeover)
      ).collect { case (kind, loops) if mode == kind || mode == "both" => (chosen(arguments, loops._1), loops._2) }
      val measured = kinds.flatMap { case (loops, pause) =>
        warmUp(loops, records.toLong, pause)
        measure(loops, records.toLong, seconds / kinds.size, pause)
      }
      println(Json.render(Json.obj(json(measured): _*)))
    } finally {
      scheduler.close()
      bare.close()
      service.close()
      emulator.close()
    }
  }
}
