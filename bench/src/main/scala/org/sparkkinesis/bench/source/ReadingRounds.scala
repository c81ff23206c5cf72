package org.sparkkinesis.bench.source

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.bench.{Measured, Meter}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.model.KinesisQuotas

/**
 * Rounds of the reading benchmarks. The readers run in turn in each round, so that other load on the machine affects
 * them equally.
 *
 * Rounds are counted when all readers are warm: [[warmUp]] runs rounds until the CPU time per record of no reader is
 * below its lowest so far by more than five percent.
 */
object ReadingRounds {
  val Stream = "bench"
  private val RecordBytes = 200
  private val MinRounds = 5
  private val MinWarmUps = 3
  private val MaxWarmUps = 10
  private val WarmImprovement = 0.05

  /**
   * @param pause
   *   pause before every reader
   */
  def warmUp(loops: Seq[ReadingLoop], records: Long, pause: Duration): Unit = {
    val lowest = mutable.Map.empty[String, Double]
    var rounds = 0
    var isWarm = false
    while (!isWarm && rounds < MaxWarmUps) {
      val cpu = round("warm-up", loops, records, pause).map { case (name, found) => name -> found.cpuMicros }
      rounds += 1
      isWarm = rounds >= MinWarmUps && cpu.forall { case (name, micros) =>
        micros > lowest(name) * (1 - WarmImprovement)
      }
      cpu.foreach { case (name, micros) => lowest(name) = math.min(micros, lowest.getOrElse(name, micros)) }
    }
    if (!isWarm) println(s"not warm after $rounds rounds")
  }

  /** Runs at least five counted rounds, and starts further rounds within `seconds`. */
  def measure(loops: Seq[ReadingLoop], records: Long, seconds: Int, pause: Duration): Seq[(String, Seq[Measured])] = {
    val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds.toLong)
    val rounds = Iterator
      .from(1)
      .takeWhile(number => number <= MinRounds || System.nanoTime < end)
      .map(number => round(s"round $number", loops, records, pause))
      .toVector
    loops.map(loop => loop.name -> rounds.map(_(loop.name)))
  }

  private def round(
      title: String,
      loops: Seq[ReadingLoop],
      records: Long,
      pause: Duration
  ): Map[String, Measured] = loops.map { loop =>
    TimeUnit.MILLISECONDS.sleep(pause.toMillis)
    val found = loop.run(records)
    println(
      f"$title%-8s  ${loop.name}%-20s ${found.perSecond}%,12.0f records/s  ${found.cpuMicros}%6.2f µs CPU and " +
        f"${found.allocatedBytes}%,.0f bytes per record"
    )
    loop.name -> found
  }.toMap

  /**
   * Returns the figures of each reader, and its ratios of rates and of CPU time to the bare client of the SDK with the
   * highest median rate. Reader names begin with their kind, such as `polling`.
   */
  def json(measured: Seq[(String, Seq[Measured])]): String = {
    def ofSdk(name: String) = name.contains("_sdk")
    def rate(rounds: Seq[Measured]) = Meter.median(rounds.map(_.perSecond))
    def cpu(rounds: Seq[Measured]) = Meter.median(rounds.map(_.cpuMicros))
    val ratios = for {
      (name, rounds) <- measured if !ofSdk(name) && !name.endsWith("_socket")
      kind = name.takeWhile(_ != '_')
      (_, best) <- measured.filter { case (bare, _) => bare.startsWith(kind) && ofSdk(bare) }.maxByOption {
        case (_, bare) => rate(bare)
      }.toSeq
      ratio <- Seq(
        s"${name}_vs_bare" -> number(rate(rounds) / rate(best), 3),
        s"${name}_cpu_vs_bare" -> number(cpu(rounds) / cpu(best), 3)
      )
    } yield ratio
    val figures = measured.map { case (name, rounds) =>
      name -> Json.obj(
        "perSecond" -> spread(rounds.map(_.perSecond), 0),
        "cpuMicros" -> spread(rounds.map(_.cpuMicros), 3),
        "allocatedBytes" -> spread(rounds.map(_.allocatedBytes), 0)
      )
    }
    Json.render(Json.obj((ratios ++ figures): _*))
  }

  private def spread(values: Seq[Double], decimals: Int): Json = Json.obj(
    "min" -> number(values.min, decimals),
    "median" -> number(Meter.median(values), decimals),
    "max" -> number(values.max, decimals)
  )

  private def number(value: Double, decimals: Int): Json.Num =
    Json.Num(BigDecimal(value).setScale(decimals, BigDecimal.RoundingMode.HALF_UP))

  /** Returns the settings with which the connector's client finds the emulator. */
  def settings(endpoint: String): ClientSettings =
    ClientSettings.of(Some("us-east-1"), Some(endpoint), CredentialSettings.Static("AKIDEXAMPLE", "secret", None))

  /** Returns the readers that the argument `--readers NAME,NAME` names, or all of them without it. */
  def chosen(arguments: Arguments, loops: Seq[ReadingLoop]): Seq[ReadingLoop] = {
    val names = arguments.text("readers", "").split(',').filter(_.nonEmpty).toSet
    if (names.isEmpty) loops else loops.filter(loop => names(loop.name))
  }

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

  /** Creates the stream with `records` records and returns its ARN. */
  def load(client: KinesisAsyncClient, shards: Int, records: Int): String = {
    val arn = createStream(client, shards)
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
    arn
  }
}
