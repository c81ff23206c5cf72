package org.sparkkinesis.bench

import java.nio.ByteBuffer
import java.nio.file.Files
import java.util.concurrent.locks.LockSupport
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{Dataset, Row, SparkSession}
import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model.{
  PutRecordsRequest, PutRecordsRequestEntry, StartingPosition => SdkPosition, _
}

import org.sparkkinesis.aws.{ClientSettings, CredentialSettings, SdkClients}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar

/**
 * How long a record takes from PutRecords to the row in `foreachBatch`, by enhanced fan-out, and what a bare SDK subscriber of the same
 * records sees in the same run: `LatencyBenchmark [--seconds N] [--rate RECORDS_A_SECOND]`. Once with Spark's defaults and once with the
 * checkpoint file manager that the documentation recommends for local disks. The last line is one JSON object, in milliseconds;
 * `…_above_sdk_…` is the query's percentile less the subscriber's.
 */
object LatencyBenchmark {
  import ReadingRounds.{bareClient, Stream}
  private val Shards = 4
  private val TicksPerSecond = 50

  private val Recommended = Map(
    "spark.sql.streaming.checkpointFileManagerClass" ->
      "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
  )

  def main(args: Array[String]): Unit = {
    val options = args.grouped(2).collect { case Array(key, value) => key.stripPrefix("--") -> value }.toMap
    val seconds = options.getOrElse("seconds", "60").toInt / 2
    val rate = options.getOrElse("rate", "2000").toInt
    val emulator = new EmulatorProcess("2g")
    val bare = bareClient(emulator.endpoint)
    try {
      bare.createStream(CreateStreamRequest.builder().streamName(Stream).shardCount(Shards).build()).join()
      bare.waiter().waitUntilStreamExists(DescribeStreamRequest.builder().streamName(Stream).build()).join()
      val figures = Seq("default" -> Map.empty[String, String], "recommended" -> Recommended).flatMap {
        case (name, conf) =>
          run(name, conf, emulator.endpoint, bare, seconds, rate)
      }
      println(figures.map { case (name, value) => f""""$name": $value%.1f""" }.mkString("{", ", ", "}"))
    } finally {
      bare.close()
      emulator.close()
    }
  }

  private def run(
      name: String,
      conf: Map[String, String],
      endpoint: String,
      bare: KinesisAsyncClient,
      seconds: Int,
      rate: Int
  ): Seq[(String, Double)] = {
    val spark =
      conf.foldLeft(SparkSession.builder().master("local[2]").appName("latency").config("spark.ui.enabled", "false")) {
        case (builder, (key, value)) => builder.config(key, value)
      }.getOrCreate()
    val service = SdkClients.create(ClientSettings(
      Some("us-east-1"),
      Some(endpoint),
      CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
    ))
    val scheduler = new SystemScheduler("bench", 1)
    val arn = bare.describeStreamSummary(
      DescribeStreamSummaryRequest.builder().streamName(Stream).build()
    ).join().streamDescriptionSummary.streamARN
    val consumerArn = new StreamConsumerRegistrar(service, scheduler).ensure(arn, s"sdk-$name").get(1, TimeUnit.MINUTES)
    val (ofQuery, ofSdk) = (new Latencies, new Latencies)
    val subscriptions = (0 until Shards).map(shard => subscribe(bare, consumerArn, f"shardId-$shard%012d", ofSdk))
    val seen: (Dataset[Row], Long) => Unit = (rows, _) => {
      val payloads = rows.select("data").collect()
      val now = System.nanoTime()
      payloads.foreach(row => ofQuery.add(now, row.getAs[Array[Byte]](0)))
    }
    val query = spark.readStream.format("kinesis").options(
      Map(
        "streamName" -> Stream,
        "endpoint" -> endpoint,
        "region" -> "us-east-1",
        "awsAccessKey" -> "AKIDEXAMPLE",
        "awsSecretKey" -> "secret",
        "consumerMode" -> "efo",
        "consumerName" -> s"query-$name"
      )
    ).load().writeStream.option("checkpointLocation", Files.createTempDirectory("bench").toString)
      .trigger(Trigger.ProcessingTime(0)).foreachBatch(seen).start()
    try {
      // The first third warms up.
      val end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds.toLong)
      val warm = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds.toLong / 3)
      produce(bare, rate, end)
      require(query.isActive, s"the query ended: ${query.exception}")
      val (a, b) = (ofQuery.since(warm), ofSdk.since(warm))
      Seq(50, 99).flatMap { p =>
        Seq(
          s"${name}_p${p}_ms" -> a(p),
          s"${name}_sdk_p${p}_ms" -> b(p),
          s"${name}_above_sdk_p${p}_ms" -> (a(p) - b(p))
        )
      }
    } finally {
      query.stop()
      subscriptions.foreach(_.cancel(true))
      spark.stop()
      scheduler.close()
      service.close()
    }
  }

  /** Puts the time of sending into each record, evenly over the second. */
  private def produce(client: KinesisAsyncClient, rate: Int, end: Long): Unit = {
    val perTick = math.max(1, rate / TicksPerSecond)
    val period = TimeUnit.SECONDS.toNanos(1) / TicksPerSecond
    var next = System.nanoTime()
    var key = 0
    while (next < end) {
      while (System.nanoTime() < next) LockSupport.parkNanos(next - System.nanoTime())
      val sent = System.nanoTime()
      val entries = (0 until perTick).map { _ =>
        key += 1
        val payload = ByteBuffer.allocate(200).putLong(sent).array()
        PutRecordsRequestEntry.builder().partitionKey(s"key-$key").data(SdkBytes.fromByteArrayUnsafe(payload)).build()
      }
      client.putRecords(PutRecordsRequest.builder().streamName(Stream).records(entries.asJava).build())
      next += period
    }
  }

  private def subscribe(client: KinesisAsyncClient, consumerArn: String, shard: String, latencies: Latencies) = {
    val handler = new SubscribeToShardResponseHandler {
      override def responseReceived(response: SubscribeToShardResponse): Unit = ()
      override def exceptionOccurred(error: Throwable): Unit = ()
      override def complete(): Unit = ()
      override def onEventStream(publisher: SdkPublisher[SubscribeToShardEventStream]): Unit =
        publisher.subscribe(new Subscriber[SubscribeToShardEventStream] {
          override def onSubscribe(subscription: Subscription): Unit = subscription.request(Long.MaxValue)
          override def onNext(event: SubscribeToShardEventStream): Unit = event match {
            case records: SubscribeToShardEvent =>
              val now = System.nanoTime()
              records.records.forEach(record => latencies.add(now, record.data.asByteArrayUnsafe()))
            case _ => ()
          }
          override def onError(error: Throwable): Unit = ()
          override def onComplete(): Unit = ()
        })
    }
    val start = SdkPosition.builder().`type`(ShardIteratorType.LATEST).build()
    client.subscribeToShard(
      SubscribeToShardRequest.builder().consumerARN(consumerArn).shardId(shard).startingPosition(start).build(),
      handler
    )
  }

  /** When records were sent, and how long they took. */
  final private class Latencies {
    private val all = new ConcurrentLinkedQueue[(Long, Double)]

    def add(now: Long, payload: Array[Byte]): Unit = {
      val sent = ByteBuffer.wrap(payload).getLong
      all.add(sent -> (now - sent) / 1e6)
      ()
    }

    /** A percentile of those that were sent after `nanos`. */
    def since(nanos: Long): Int => Double = {
      val sorted = all.asScala.iterator.filter(_._1 >= nanos).map(_._2).toVector.sorted
      require(sorted.nonEmpty, "nothing came")
      p => sorted((sorted.size - 1) * p / 100)
    }
  }
}
