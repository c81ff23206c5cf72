package org.sparkkinesis.bench

import java.nio.file.Files
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.{StreamingQueryListener, Trigger}
import software.amazon.awssdk.services.kinesis.model.DescribeStreamSummaryRequest

import org.sparkkinesis.aws.{ClientSettings, CredentialSettings, SdkClients}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.model.KinesisQuotas

/**
 * How fast a micro-batch query reads into the `noop` sink, polling and by enhanced fan-out, against a bare SDK loop that only counts,
 * side by side in one run: `SourceBenchmark [--seconds N] [--records N] [--shards N]`. The time of a query counts from its start,
 * with everything that Spark does until the first batch. The last line is one JSON object with the ratios `polling_vs_sdk` and `efo_vs_sdk`.
 */
object SourceBenchmark {
  import ReadingRounds._

  def main(args: Array[String]): Unit = {
    val options = args.grouped(2).collect { case Array(key, value) => key.stripPrefix("--") -> value }.toMap
    val records = options.getOrElse("records", "2000000").toInt
    val shards = options.getOrElse("shards", "4").toInt
    val seconds = options.getOrElse("seconds", "120").toInt
    EmulatorProcess.pinSelf()
    val emulator = new EmulatorProcess("6g")
    val service = SdkClients.create(
      ClientSettings(
        Some("us-east-1"),
        Some(emulator.endpoint),
        CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
      )
    )
    val scheduler = new SystemScheduler("bench", 1)
    val bare = bareClient(emulator.endpoint)
    val spark =
      SparkSession.builder().master("local[2]").appName("source").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    try {
      load(bare, shards, records)
      val arn = bare.describeStreamSummary(DescribeStreamSummaryRequest.builder().streamName(Stream).build()).join()
        .streamDescriptionSummary.streamARN
      val consumerArn = new StreamConsumerRegistrar(service, scheduler).ensure(arn, "bench").get(1, TimeUnit.MINUTES)
      val efo = Map("consumerMode" -> "efo", "registration" -> "none", "consumerARN" -> consumerArn)
      val measured =
        measure(
          Seq(
            new SdkPollingLoop("polling_sdk", bare, Stream, shards),
            new QueryLoop("polling", spark, emulator.endpoint, Map.empty)
          ),
          records.toLong,
          seconds / 2,
          Duration.Zero
        ) ++
          // Another subscription within five seconds of the last is refused, so every reader waits that long.
          measure(
            Seq(
              new SdkFanOutLoop("efo_sdk", bare, consumerArn, shards),
              new QueryLoop("efo", spark, emulator.endpoint, efo)
            ),
            records.toLong,
            seconds / 2,
            KinesisQuotas.Lifetime.SubscriptionTakeover
          )
      println(json(measured))
    } finally {
      spark.stop()
      scheduler.close()
      bare.close()
      service.close()
      emulator.close()
    }
  }
}

/** A streaming query from the oldest record into nothing. */
final class QueryLoop(val name: String, spark: SparkSession, endpoint: String, options: Map[String, String])
    extends ReadingLoop {
  private val connection = Map(
    "streamName" -> ReadingRounds.Stream,
    "endpoint" -> endpoint,
    "region" -> "us-east-1",
    "awsAccessKey" -> "AKIDEXAMPLE",
    "awsSecretKey" -> "secret",
    "initialPosition" -> "trim_horizon",
    // The service's pace would be measured otherwise.
    "maxFetchesPerSecond" -> "1000"
  )

  override def run(expected: Long): Double = {
    val tally = new Tally(expected)
    val listener = new StreamingQueryListener {
      override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit = ()
      override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit =
        tally.add(event.progress.numInputRows.toInt)
      override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit =
        event.exception.foreach(text => tally.fail(new IllegalStateException(text)))
    }
    spark.streams.addListener(listener)
    val checkpoint = Files.createTempDirectory("bench")
    val query = spark.readStream.format("kinesis").options(connection ++ options).load().writeStream.format("noop")
      .option("checkpointLocation", checkpoint.toString).trigger(Trigger.ProcessingTime(0)).start()
    try tally.await()
    finally {
      query.stop()
      spark.streams.removeListener(listener)
    }
  }
}
