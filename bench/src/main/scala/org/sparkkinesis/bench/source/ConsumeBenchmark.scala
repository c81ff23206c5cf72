package org.sparkkinesis.bench.source

import org.sparkkinesis.aws.client.SdkClients
import org.sparkkinesis.bench.{LoopGroup, Rounds}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.{EmulatorProcess, Processors}
import org.sparkkinesis.model.KinesisQuotas

/**
 * Measures the connector's consumers without Spark against bare loops that only count, side by side in one run:
 * `ConsumeBenchmark [--seconds N] [--records N] [--shards N] [--mode polling|efo|both]`, and the arguments of
 * [[org.sparkkinesis.bench.Rounds]]. The last line is one JSON object.
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
    val emulator = new EmulatorProcess("4g", processor = Some(0), tls = withTls(arguments))
    emulator.trust.foreach(_.useInThisJvm())
    val scheduler = new SystemScheduler("bench", 2)
    val routes = (emulator.endpoint -> "") +: emulator.secureEndpoint.toSeq.map(_ -> OverTls)
    val clients = routes.map { case (endpoint, suffix) =>
      (SdkClients.create(settings(endpoint)), new BareClients(endpoint, suffix), suffix)
    }
    try {
      val (service, bare, _) = clients.head
      val arn = load(bare.http2, shards, records)
      val consumerArn = registerConsumer(service, scheduler, arn, "bench")
      val groups = clients.flatMap { case (service, bare, suffix) =>
        val polling = ReadingLoops.polling(service, scheduler)
        val fanOut = ReadingLoops.fanOut(service, consumerArn, scheduler)
        val pollingLoops = bare.pollingLoops(shards) ++ Option.when(suffix.isEmpty)(bare.socketLoop(shards)) ++ Seq(
          new PublisherLoop(s"polling_publisher$suffix", polling, Name, shards),
          new ConsumersLoop(s"polling_consumers$suffix", polling, Name, shards)
        )
        val fanOutLoops = Seq(
          new SdkFanOutLoop(s"efo_sdk$suffix", bare.http2, () => consumerArn, shards),
          new PublisherLoop(s"efo_publisher$suffix", fanOut, Name, shards),
          new ConsumersLoop(s"efo_consumers$suffix", fanOut, Name, shards)
        )
        // The service refuses another subscription within five seconds, so every reader by fan-out waits that long.
        Seq(
          "polling" -> LoopGroup(pollingLoops),
          "efo" -> LoopGroup(fanOutLoops, KinesisQuotas.Lifetime.SubscriptionTakeover)
        )
      }
      val ofMode = groups.collect { case (kind, group) if mode == kind || mode == "both" => group }
      println(Json.render(Json.obj(json(run(arguments, ofMode, records.toLong, seconds)(())): _*)))
    } finally {
      scheduler.close()
      clients.foreach { case (service, bare, _) =>
        bare.close()
        service.close()
      }
      emulator.close()
    }
  }
}
