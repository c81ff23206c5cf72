package org.sparkkinesis.bench.sink

import java.nio.file.Files

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions._

import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.StandaloneCluster
import org.sparkkinesis.model.KinesisQuotas

/**
 * Measures the shares of two executors that write to one stream with more records than it accepts, on a standalone
 * cluster with one task in each: `--seconds N`. The part before both have written for [[ExecutorShares.Settling]] does
 * not count, nor does the part after one of them has finished.
 */
object ExecutorShares {
  val Settling: FiniteDuration = 30.seconds
  private val Stream = "shared"
  private val Shards = 4
  private val Executors = 2

  def main(args: Array[String]): Unit = {
    val seconds = math.max(2 * Settling.toSeconds, Arguments(args).seconds(90).toLong)
    val records = seconds * Shards * KinesisQuotas.Shard.WriteRecordsPerSecond
    println(Json.render(run(records)))
  }

  private def run(records: Long): Json = Using.Manager { use =>
    val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = true)))
    kinesis.admin.createStream(Stream, Shards)
    val folder = Files.createTempDirectory("executor-shares")
    val cluster = use(new StandaloneCluster(folder, workers = Executors, executorsPerWorker = 1))
    write(cluster, kinesis, records)
    // Each partition key begins with the id of the executor.
    val arrivals = kinesis.admin.records(Stream)
      .groupMap(_.partitionKey.takeWhile(_ != '/'))(_.arrivalMillis).values.map(_.sorted).toVector
    require(arrivals.size == Executors, s"${arrivals.size} executors wrote; see $folder")
    val (from, to) = (arrivals.map(_.head).max + Settling.toMillis, arrivals.map(_.last).min)
    require(to > from, s"an executor had no more records before $Settling were over; see $folder")
    val counts = arrivals.map(_.count(at => at >= from && at < to).toLong)
    val perSecond = counts.sum * 1000.0 / (to - from)
    Json.obj(
      "share_min" -> number(counts.min.toDouble / counts.sum),
      "vs_capacity" -> number(perSecond / (Shards * KinesisQuotas.Shard.WriteRecordsPerSecond)),
      "recordsOfExecutors" -> Json.Arr(counts.map(Json.num)),
      "measuredSeconds" -> number((to - from) / 1000.0)
    )
  }.get

  private def write(cluster: StandaloneCluster, kinesis: KinesisEmulator, records: Long): Unit = {
    val settings = cluster.settings ++ Map(
      "spark.ui.enabled" -> "false",
      "spark.driver.bindAddress" -> "127.0.0.1",
      "spark.driver.host" -> "127.0.0.1",
      // No task may wait for the executor of the other one.
      "spark.scheduler.minRegisteredResourcesRatio" -> "1.0",
      "spark.scheduler.maxRegisteredResourcesWaitingTime" -> "5min"
    )
    val builder = SparkSession.builder().master(cluster.master).appName("executor-shares")
    val spark = settings.foldLeft(builder) { case (made, (key, value)) => made.config(key, value) }.getOrCreate()
    try {
      val executor = udf(() => SparkEnv.get.executorId).asNondeterministic()
      spark.range(0, records, 1, Executors)
        .select(concat(executor(), lit("/"), col("id")).as("partitionKey"), lit("x" * 200).as("data"))
        .write.format("kinesis").mode("append").options(Map(
          "streamName" -> Stream,
          "endpoint" -> kinesis.endpoint,
          "region" -> kinesis.region,
          "awsAccessKey" -> "test",
          "awsSecretKey" -> "test"
        )).save()
    } finally spark.stop()
  }

  private def number(value: Double): Json.Num = Json.Num(BigDecimal(value).setScale(3, BigDecimal.RoundingMode.HALF_UP))
}
