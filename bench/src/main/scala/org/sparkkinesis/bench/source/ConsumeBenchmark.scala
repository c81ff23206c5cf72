package org.sparkkinesis.bench.source

import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import software.amazon.awssdk.services.kinesis.model.DescribeStreamSummaryRequest

import org.sparkkinesis.aws.client.SdkClients
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.{EmulatorProcess, Processors}
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/**
 * Measures the connector's consumers without Spark against a bare SDK loop that only counts, side by side in one run:
 * `ConsumeBenchmark [--seconds N] [--records N] [--shards N] [--mode polling|efo|both]`. The last line is one JSON
 * object with the median of each reader in records per second and its ratio to the SDK's.
 */
object ConsumeBenchmark {
  import ReadingRounds._

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
    val bare = bareClient(emulator.endpoint)
    try {
      load(bare, shards, records)
      val polling = ReadingLoops.polling(service, scheduler)
      val pollingLoops = Seq(
        new SdkPollingLoop("polling_sdk", bare, Stream, shards),
        new PublisherLoop("polling_publisher", polling, Stream, shards),
        new ConsumersLoop("polling_consumers", polling, Stream, shards)
      )
      val arn = bare.describeStreamSummary(DescribeStreamSummaryRequest.builder().streamName(Stream).build()).join()
        .streamDescriptionSummary.streamARN
      val consumerArn = new StreamConsumerRegistrar(
        service,
        scheduler,
        RetryPolicies.of(Options.defaults),
        RetryRules.Default
      ).ensure(arn, "bench").get(1, TimeUnit.MINUTES)
      val fanOut = ReadingLoops.fanOut(service, consumerArn, scheduler)
      val fanOutLoops = Seq(
        new SdkFanOutLoop("efo_sdk", bare, () => consumerArn, shards),
        new PublisherLoop("efo_publisher", fanOut, Stream, shards),
        new ConsumersLoop("efo_consumers", fanOut, Stream, shards)
      )
      val measured = (if (mode == "efo") Nil else measure(pollingLoops, records.toLong, seconds / 2, Duration.Zero)) ++
        // The service refuses another subscription within five seconds, so every reader waits that long.
        (if (mode == "polling") Nil
         else measure(fanOutLoops, records.toLong, seconds / 2, KinesisQuotas.Lifetime.SubscriptionTakeover))
      println(json(measured))
    } finally {
      scheduler.close()
      bare.close()
      service.close()
      emulator.close()
    }
  }
}
