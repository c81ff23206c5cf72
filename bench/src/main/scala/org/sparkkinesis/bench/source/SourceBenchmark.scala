package org.sparkkinesis.bench.source

import java.nio.file.Files

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.{StreamingQueryListener, Trigger}

import org.sparkkinesis.aws.client.SdkClients
import org.sparkkinesis.bench.{Checkpoints, LoopGroup, Measured, MeasuredLoop, Rounds, Tally}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.{EmulatorProcess, Processors}

/**
 * Measures a micro-batch query that reads into the `noop` sink, with polling and with enhanced fan-out, against bare
 * loops that only count, side by side in one run: `SourceBenchmark [--seconds N] [--records N] [--shards N] [--mode
 * polling|efo|both]`, and the arguments of [[org.sparkkinesis.bench.Rounds]].
 *
 * All are measured warm (see [[org.sparkkinesis.bench.Rounds]]), and in their stable state: the query from the end of
 * its first batch to the end of its last, without the records that its consumers had received before, and with the
 * settings that the documentation recommends for checkpoints on a local disk, except `efo_spark_defaults`; the loops
 * from their first answer to their last, without the first.
 *
 * The last line is one JSON object. Its ratios `polling_vs_bare` and `efo_vs_bare` compare with the fastest bare
 * client of the SDK. Names that end with `_tls` are the same over TLS.
 */
object SourceBenchmark {
  import ReadingStream._
  import Rounds._

  /** With this number of consumers, each is used again only after more than five seconds. */
  private val Consumers = 10

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val records = arguments.number("records", 2000000)
    val shards = arguments.number("shards", 4)
    val seconds = arguments.seconds(120)
    val mode = arguments.text("mode", "both")
    val emulator = new EmulatorProcess("6g", processor = Some(0), tls = withTls(arguments))
    emulator.trust.foreach(_.useInThisJvm())
    val service = SdkClients.create(settings(emulator.endpoint))
    val scheduler = new SystemScheduler("bench", 1)
    val bare = new BareClients(emulator.endpoint)
    val secure = emulator.secureEndpoint.map(endpoint => endpoint -> new BareClients(endpoint, OverTls))
    val spark = SparkSession.builder().master("local[2]").appName("source").config("spark.ui.enabled", "false")
      .config(Checkpoints.OnLocalDisk).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    try {
      val arn = load(bare.http2, shards, records)
      // The service refuses another subscription of a consumer within five seconds, so consumers are used in turn.
      val arns = (1 to Consumers).map(i => registerConsumer(service, scheduler, arn, s"bench-$i"))
      val consumers = Iterator.continually(arns).flatten
      def efo = Map("consumerMode" -> "efo", "registration" -> "none", "consumerARN" -> consumers.next())
      def polling(clients: BareClients, endpoint: String, suffix: String): Seq[MeasuredLoop] =
        clients.pollingLoops(shards) :+ new QueryLoop(s"polling$suffix", spark, endpoint, Map.empty)
      def fanOut(clients: BareClients, endpoint: String, suffix: String): Seq[MeasuredLoop] = Seq(
        new SdkFanOutLoop(s"efo_sdk$suffix", clients.http2, () => consumers.next(), shards),
        new QueryLoop(s"efo$suffix", spark, endpoint, efo)
      )
      val plainPolling = bare.socketLoop(shards) +: polling(bare, emulator.endpoint, "") :+
        new QueryLoop("polling_aligned", spark, emulator.endpoint, Map("alignShards" -> "1m"))
      val plainFanOut = fanOut(bare, emulator.endpoint, "") :+
        new QueryLoop("efo_spark_defaults", Checkpoints.withSparkDefaults(spark), emulator.endpoint, efo)
      val groups = Seq("polling" -> plainPolling, "efo" -> plainFanOut) ++
        secure.toSeq.flatMap { case (endpoint, clients) =>
          Seq("polling" -> polling(clients, endpoint, OverTls), "efo" -> fanOut(clients, endpoint, OverTls))
        }
      val ofMode = groups.collect { case (kind, loops) if mode == kind || mode == "both" => LoopGroup(loops) }
      // Each side gets one processor when all code is compiled.
      val measured = run(arguments, ofMode, records.toLong, seconds)(Processors.moveSelfTo(1))
      println(Json.render(Json.obj(json(measured): _*)))
    } finally {
      spark.stop()
      scheduler.close()
      bare.close()
      secure.foreach(_._2.close())
      service.close()
      emulator.close()
    }
  }
}

/** A streaming query from the oldest record into the `noop` sink. `options` are evaluated at each start. */
final class QueryLoop(val name: String, spark: SparkSession, endpoint: String, options: => Map[String, String])
    extends MeasuredLoop {

  override def run(expected: Long): Measured = {
    val tally = new Tally(expected)
    val running = QueryLoop.start(spark, QueryLoop.connection(endpoint) ++ options, tally)
    try tally.await()
    finally running.close()
  }
}

object QueryLoop {

  def account(endpoint: String): Map[String, String] = Map(
    "endpoint" -> endpoint,
    "region" -> "us-east-1",
    "awsAccessKey" -> "AKIDEXAMPLE",
    "awsSecretKey" -> "secret"
  )

  /** Reads the benchmarks' stream from its oldest record without a limit on the polling rate. */
  def connection(endpoint: String): Map[String, String] = account(endpoint) ++ Map(
    "streamName" -> ReadingStream.Name,
    "initialPosition" -> "trim_horizon",
    "maxFetchesPerSecond" -> "1000"
  )

  /** Starts a query that counts its rows in `tally` after each batch. Closing the result stops the query. */
  def start(spark: SparkSession, options: Map[String, String], tally: Tally): AutoCloseable = {
    val listener = new StreamingQueryListener {
      override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit = ()
      override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit =
        tally.add(event.progress.numInputRows, event.progress.sources.map(_.metrics.get("records").toLong).sum)
      override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit =
        event.exception.foreach(text => tally.fail(new IllegalStateException(text)))
    }
    spark.streams.addListener(listener)
    val checkpoint = Files.createTempDirectory("bench")
    val query = spark.readStream.format("kinesis").options(options).load().writeStream.format("noop")
      .option("checkpointLocation", checkpoint.toString).trigger(Trigger.ProcessingTime(0)).start()
    () => {
      query.stop()
      spark.streams.removeListener(listener)
    }
  }
}
