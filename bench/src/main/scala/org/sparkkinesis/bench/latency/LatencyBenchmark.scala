package org.sparkkinesis.bench.latency

import java.nio.file.Files
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.FileSystem
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryListener, Trigger}
import org.apache.spark.sql.{Dataset, Row, SparkSession}
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, SdkClients}
import org.sparkkinesis.bench.Checkpoints
import org.sparkkinesis.bench.source.{BareClients, ReadingStream}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.EmulatorProcess

/**
 * Measures the time of a record from PutRecords to the row in `foreachBatch` with enhanced fan-out, and the time that
 * a bare SDK subscriber needs for the same records in the same run: `LatencyBenchmark [--seconds N] [--rate
 * RECORDS_PER_SECOND]`.
 *
 * Three queries run in turn: one that warms up the JVM for half of the time and is not counted, one with Spark's
 * defaults, and one with the settings that the documentation recommends for checkpoints on a local disk.
 *
 * The last line is one JSON object, in milliseconds. `…_above_sdk_…` is the query's percentile minus the
 * subscriber's. `…_stages_p50_ms` is the duration of a trigger's stages as Spark reports it.
 * `…_spark_alone_stages_p50_ms` is the same with Spark's rate source, and thus the minimum for any source.
 */
object LatencyBenchmark {
  import ReadingStream.{Name => Stream}
  private val Shards = 4

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val seconds = arguments.seconds(90)
    val rate = arguments.number("rate", 2000)
    val emulator = new EmulatorProcess("2g", processor = Some(0))
    val bare = BareClients.asynchronous(emulator.endpoint)
    try {
      val arn = ReadingStream.createStream(bare, Shards)
      def round(name: String, settings: Map[String, String], ofSeconds: Int): Seq[String] = {
        val spark = session(settings)
        try new Round(spark, emulator.endpoint, arn, bare, ofSeconds, rate).run(name) :+
            alone(name, spark, bare, ofSeconds / 2, rate)
        finally {
          spark.stop()
          // Hadoop caches file systems with the settings of the session that created them.
          FileSystem.closeAll()
        }
      }
      // In production, a query runs for hours with compiled planning code. Short triggers compile it soonest.
      round("warm_up", Checkpoints.OnLocalDisk, seconds / 2)
      val figures = round("default", Map.empty, seconds / 4) ++
        round("recommended", Checkpoints.OnLocalDisk, seconds / 4)
      println(figures.mkString("{", ", ", "}"))
    } finally {
      bare.close()
      emulator.close()
    }
  }

  private def session(settings: Map[String, String]): SparkSession =
    SparkSession.builder().master("local[2]").appName("latency")
      .config("spark.ui.enabled", "false").config(settings).getOrCreate()

  /** The same query with about as many rows from Spark's rate source, while the same number of records is put. */
  private def alone(
      name: String,
      spark: SparkSession,
      bare: KinesisAsyncClient,
      seconds: Int,
      rate: Int
  ): String = {
    val stages = new Stages
    spark.streams.addListener(stages)
    val ignore: (Dataset[Row], Long) => Unit = (rows, _) => { rows.select("value").collect(); () }
    val query =
      spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 200L).option("numPartitions", 2L).load()
        .writeStream.option("checkpointLocation", Files.createTempDirectory("bench").toString)
        .trigger(Trigger.ProcessingTime(0)).foreachBatch(ignore).start()
    TimedRecords.produce(bare, Stream, rate, seconds)
    query.stop()
    spark.streams.removeListener(stages)
    stages.json(s"${name}_spark_alone")
  }

  /** One query and one bare subscriber that receive the same records. */
  final private class Round(
      spark: SparkSession,
      endpoint: String,
      arn: String,
      bare: KinesisAsyncClient,
      seconds: Int,
      rate: Int
  ) {
    private val credentials = CredentialSettings.Static("AKIDEXAMPLE", "secret", None)

    /** Runs the round and returns the fields of its result. */
    def run(name: String): Seq[String] = {
      val service = SdkClients.create(ClientSettings.of(Some("us-east-1"), Some(endpoint), credentials))
      val scheduler = new SystemScheduler("bench", 1)
      val consumer = ReadingStream.registerConsumer(service, scheduler, arn, s"sdk-$name")
      val (ofQuery, ofSdk) = (new Latencies, new Latencies)
      val subscriptions = TimedRecords.subscribe(bare, consumer, Shards, ofSdk)
      val stages = new Stages
      spark.streams.addListener(stages)
      val query = start(name, ofQuery)
      try {
        // The first batch is not counted: it includes compilation with any settings.
        val begun = TimedRecords.epochMicros
        TimedRecords.produce(bare, Stream, rate, seconds)
        require(query.isActive, s"the query ended: ${query.exception}")
        val settled = begun + TimeUnit.SECONDS.toMicros(seconds.toLong) / 4
        figures(name, ofQuery.since(settled), ofSdk.since(settled)) :+ stages.json(name)
      } finally {
        query.stop()
        spark.streams.removeListener(stages)
        subscriptions.foreach(_.cancel(true))
        scheduler.close()
        service.close()
      }
    }

    private def start(name: String, latencies: Latencies): StreamingQuery = {
      val seen: (Dataset[Row], Long) => Unit = (rows, _) => {
        val payloads = rows.select("data").collect()
        val now = TimedRecords.epochMicros
        payloads.foreach(row => latencies.add(now, row.getAs[Array[Byte]](0)))
      }
      spark.readStream.format("kinesis").options(
        Map(
          "streamName" -> Stream,
          "endpoint" -> endpoint,
          "region" -> "us-east-1",
          "awsAccessKey" -> credentials.accessKeyId,
          "awsSecretKey" -> credentials.secretAccessKey,
          "consumerMode" -> "efo",
          "consumerName" -> s"query-$name"
        )
      ).load().writeStream.option("checkpointLocation", Files.createTempDirectory("bench").toString)
        .trigger(Trigger.ProcessingTime(0)).foreachBatch(seen).start()
    }
  }

  private def figures(name: String, query: Double => Double, sdk: Double => Double): Seq[String] = Seq(50, 99).flatMap {
    p =>
      Seq("" -> query(p), "sdk_" -> sdk(p), "above_sdk_" -> (query(p) - sdk(p))).map { case (of, millis) =>
        f""""${name}_${of}p${p}_ms": $millis%.1f"""
      }
  }

  /** Collects the stage durations of triggers with rows, as Spark reports them. */
  final private class Stages extends StreamingQueryListener {
    private val all = new ConcurrentLinkedQueue[Map[String, Long]]

    override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit = ()
    override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit = ()
    override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit =
      if (event.progress.numInputRows > 0) {
        all.add(event.progress.durationMs.asScala.view.mapValues(_.longValue).toMap)
        ()
      }

    /** Returns the medians of the second half of the triggers. */
    def json(name: String): String = {
      val last = all.asScala.toVector.drop(all.size / 2)
      val medians = last.flatten.groupMap(_._1)(_._2).toSeq.sortBy(_._1).map { case (stage, millis) =>
        s""""$stage": ${millis.sorted.apply(millis.size / 2)}"""
      }
      medians.mkString(s""""${name}_stages_p50_ms": {"triggers": ${all.size}, """, ", ", "}")
    }
  }
}
