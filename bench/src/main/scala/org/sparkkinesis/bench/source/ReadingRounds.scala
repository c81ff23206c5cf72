package org.sparkkinesis.bench.source

import java.lang.management.ManagementFactory
import java.net.URI
import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._

import com.sun.management.OperatingSystemMXBean
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.bench.Meter
import org.sparkkinesis.model.KinesisQuotas

/** Shared parts of the reading benchmarks: a loaded stream, a bare client, rounds in turn, ratios. */
object ReadingRounds {
  val Stream = "bench"
  private val RecordBytes = 200
  private val MinRounds = 3
  private val process = ManagementFactory.getOperatingSystemMXBean.asInstanceOf[OperatingSystemMXBean]

  /**
   * Runs rounds of all readers in turn, so that other load on the machine affects them equally. The first round warms
   * up unless the readers are warm. Runs at least three counted rounds, and starts further rounds within `seconds`.
   *
   * @param pause
   *   pause before every reader
   */
  def measure(
      loops: Seq[ReadingLoop],
      records: Long,
      seconds: Int,
      pause: Duration,
      areWarm: Boolean = false
  ): Seq[(String, Double)] = {
    val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds.toLong)
    if (!areWarm) round("warm-up", loops, records, pause)
    val rounds = Iterator
      .from(1)
      .takeWhile(number => number <= MinRounds || System.nanoTime < end)
      .map(number => round(s"round $number", loops, records, pause))
      .toVector
    loops.map(loop => loop.name -> Meter.median(rounds.map(_(loop.name))))
  }

  /** Runs one round. Returns records per second by reader and prints the CPU time per record of this process. */
  def round(title: String, loops: Seq[ReadingLoop], records: Long, pause: Duration): Map[String, Double] =
    loops.map { loop =>
      TimeUnit.MILLISECONDS.sleep(pause.toMillis)
      val cpuNanos = process.getProcessCpuTime
      val rate = loop.run(records)
      val micros = (process.getProcessCpuTime - cpuNanos) / 1e3 / records
      println(f"$title%-8s  ${loop.name}%-20s $rate%,12.0f records/s  $micros%6.2f µs CPU per record")
      loop.name -> rate
    }.toMap

  def json(measured: Seq[(String, Double)]): String = {
    val rates = measured.toMap
    val ratios = measured.collect {
      case (name, rate) if !name.endsWith("_sdk") =>
        val kind = name.takeWhile(_ != '_')
        f""""${name}_vs_sdk": ${rate / rates(s"${kind}_sdk")}%.3f"""
    }
    (measured.map { case (name, rate) => f""""${name}_per_second": $rate%.0f""" } ++ ratios).mkString("{", ", ", "}")
  }

  /** Returns the settings with which the connector's client finds the emulator. */
  def settings(endpoint: String): ClientSettings =
    ClientSettings.of(Some("us-east-1"), Some(endpoint), CredentialSettings.Static("AKIDEXAMPLE", "secret", None))

  /** Returns an SDK client with defaults except for the endpoint and credentials. */
  def bareClient(endpoint: String): KinesisAsyncClient = KinesisAsyncClient
    .builder()
    .region(Region.US_EAST_1)
    .endpointOverride(URI.create(endpoint))
    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("AKIDEXAMPLE", "secret")))
    .build()

  /** Creates the stream and returns its ARN when it is active. */
  def createStream(client: KinesisAsyncClient, shards: Int): String = {
    client.createStream(CreateStreamRequest.builder().streamName(Stream).shardCount(shards).build()).join()
    client.waiter().waitUntilStreamExists(DescribeStreamRequest.builder().streamName(Stream).build()).join()
    val request = DescribeStreamSummaryRequest.builder().streamName(Stream).build()
    client.describeStreamSummary(request).join().streamDescriptionSummary.streamARN
  }

  /** Returns one hash key in each shard of a new stream. */
  def hashKeys(shards: Int): IndexedSeq[String] = (0 until shards).map(i =>
    (BigInt(2).pow(128) / shards * i + 1).toString
  )

  def load(client: KinesisAsyncClient, shards: Int, records: Int): Unit = {
    createStream(client, shards)
    val payload = SdkBytes.fromByteArray(Array.fill[Byte](RecordBytes)('x'))
    val hashes = hashKeys(shards)
    (0 until records).grouped(KinesisQuotas.Request.PutRecordsEntries).grouped(8).foreach { batches =>
      val calls = batches.map { batch =>
        val entries = batch.map { i =>
          PutRecordsRequestEntry.builder().partitionKey(
            s"key-$i"
          ).explicitHashKey(hashes(i % shards)).data(payload).build()
        }
        val list = new java.util.ArrayList[PutRecordsRequestEntry](entries.size)
        entries.foreach(list.add)
        client.putRecords(PutRecordsRequest.builder().streamName(Stream).records(list).build())
      }
      CompletableFuture.allOf(calls: _*).join()
      calls.foreach(call => require(call.join().failedRecordCount == 0, "the emulator refused records"))
    }
  }
}
