package org.sparkkinesis.integration.write

import java.nio.file.Files

import scala.concurrent.duration._

import org.apache.spark.sql.{DataFrame, DataFrameWriter, Row, SparkSession}
import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.aggregate.Deaggregator
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.model.KinesisRecord
import org.sparkkinesis.suite.TimedSuite

/** A Spark of two threads and an emulator of one's own for each suite. */
abstract class SinkFixture(quotas: Boolean = false) extends TimedSuite with BeforeAndAfterAll {
  protected lazy val kinesis: KinesisEmulator = KinesisEmulator.start(EmulatorConfig(quotas = quotas))
  protected lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.warehouse.dir", Files.createTempDirectory("warehouse").toString)
    .getOrCreate()

  /** The first test starts Spark. */
  override protected def timeLimit: FiniteDuration = 3.minutes

  override def afterAll(): Unit = {
    spark.stop()
    kinesis.close()
  }

  protected val format: String = "kinesis"

  protected def connection: Map[String, String] = Map(
    "endpoint" -> kinesis.endpoint,
    "region" -> kinesis.region,
    "awsAccessKey" -> "AKIDEXAMPLE",
    "awsSecretKey" -> "secret"
  )

  protected def writer(rows: DataFrame, set: (String, String)*): DataFrameWriter[Row] =
    rows.write.format(format).mode("append").options(connection).options(set.toMap)

  /** The user records that a stream holds, shard by shard, aggregates opened. */
  protected def read(stream: String): Seq[(String, String)] =
    kinesis.admin.records(stream).flatMap { (record: KinesisRecord) =>
      Option(Deaggregator.open(record.data)) match {
        case Some(users) => (0 until users.count).map(i => users.partitionKey(i) -> new String(users.data(i), "UTF-8"))
        case None => Seq(record.partitionKey -> new String(record.data, "UTF-8"))
      }
    }

  /** The condition of the connector's error, wherever Spark has wrapped it, with its message. */
  protected def conditionOf(body: => Any): (String, String) = {
    val error = intercept[Throwable](body)
    val chain = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toSeq
    chain
      .flatMap(cause => Option(cause.getMessage))
      .flatMap("\\[(KINESIS_[A-Z_]+)\\]".r.findFirstMatchIn(_))
      .headOption
      .map(found => found.group(1) -> chain.map(_.getMessage).mkString("\n"))
      .getOrElse(throw error)
  }
}
