package org.sparkkinesis.integration

import java.nio.charset.StandardCharsets
import java.nio.file.{Files, Path}
import java.util.Comparator

import scala.concurrent.duration._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.{DataStreamReader, StreamingQuery}
import org.scalatest.{BeforeAndAfterAll, BeforeAndAfterEach}

import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.kit.stream.StreamTests
import org.sparkkinesis.suite.TimedSuite

/** A Spark session and an emulator for each suite; streams, checkpoints and queries for each test. */
abstract class SparkSuite extends TimedSuite with StreamTests with BeforeAndAfterAll with BeforeAndAfterEach {
  protected def master: String = "local[2]"
  protected def quotas: Boolean = false
  protected def settings: Map[String, String] = Map.empty
  override protected def timeLimit: FiniteDuration = 5.minutes

  protected lazy val spark: SparkSession = {
    val builder = SparkSession.builder().master(master).appName(getClass.getSimpleName)
    val all = Map(
      "spark.ui.enabled" -> "false",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.sql.warehouse.dir" -> temporary.resolve("warehouse").toString,
      "spark.driver.bindAddress" -> "127.0.0.1",
      "spark.driver.host" -> "127.0.0.1",
      "spark.sql.streaming.pollingDelay" -> "10ms",
      // A fast machine runs more micro-batches in a test than Spark keeps the progress of by default.
      "spark.sql.streaming.numRecentProgressUpdates" -> "10000"
    ) ++ settings
    all.foldLeft(builder) { case (b, (key, value)) => b.config(key, value) }.getOrCreate()
  }
  protected lazy val kinesis: KinesisEmulator = KinesisEmulator.start(EmulatorConfig(quotas = quotas))
  protected lazy val temporary: Path = Files.createTempDirectory("spark-kinesis-it")

  override def afterAll(): Unit = {
    spark.stop()
    cluster.foreach(_.close())
    kinesis.close()
    val files = Files.walk(temporary)
    try files.sorted(Comparator.reverseOrder[Path]()).forEach(path => Files.delete(path))
    finally files.close()
  }

  override def afterEach(): Unit = spark.streams.active.foreach(_.stop())

  protected def connection(stream: String): Map[String, String] = Map(
    "streamName" -> stream,
    "endpoint" -> kinesis.endpoint,
    "region" -> kinesis.region,
    "awsAccessKey" -> "test",
    "awsSecretKey" -> "test"
  )

  override protected def readOptions(stream: String): Map[String, String] =
    connection(stream) ++ Map("initialPosition" -> "trim_horizon", "minFetchPeriod" -> "20ms")

  override protected def writeOptions(stream: String): Map[String, String] = connection(stream)

  protected def readStream(stream: String, options: (String, String)*): DataStreamReader =
    spark.readStream.format("kinesis").options(readOptions(stream) ++ options)

  override protected def checkpoint(): String = Files.createTempDirectory(temporary, "checkpoint").toString

  /** Waits for a condition that a running query brings about; its failure ends the wait. */
  protected def await(
      query: StreamingQuery,
      what: String,
      within: FiniteDuration = 2.minutes
  )(condition: => Boolean): Unit = {
    val deadline = within.fromNow
    while (!condition) {
      query.exception.foreach(failure => throw failure)
      assert(query.isActive, s"the query ended before $what")
      assert(deadline.hasTimeLeft(), s"not within $within: $what; last progress: ${query.lastProgress}")
      query.awaitTermination(20)
    }
  }

  protected def utf8(text: String): Array[Byte] = text.getBytes(StandardCharsets.UTF_8)
}
