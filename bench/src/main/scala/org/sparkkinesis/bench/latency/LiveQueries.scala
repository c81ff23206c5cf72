package org.sparkkinesis.bench.latency

import java.nio.file.Files

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, SparkSession}

import org.sparkkinesis.bench.source.ReadingStream

/** Starts the queries that the benchmark of real-time mode compares. Their rows are in [[SeenRows]], by their names. */
final class LiveQueries(spark: SparkSession, endpoint: String, rate: Int) {
  import LiveQueries.Start
  private val connection = Map(
    "endpoint" -> endpoint,
    "region" -> "us-east-1",
    "awsAccessKey" -> "AKIDEXAMPLE",
    "awsSecretKey" -> "secret"
  )

  val fanOut: Start = (name, every) => rows(kinesis(efo(name)), name, Trigger.RealTime(every))
  val polling: Start = (name, every) => rows(kinesis(Map.empty), name, Trigger.RealTime(every))
  val microBatches: Start = (name, _) => rows(kinesis(efo(name)), name, Trigger.ProcessingTime(0))

  /** The query without a service. */
  val inJvm: Start = (name, every) =>
    rows(
      spark.readStream.format(classOf[InJvmSource].getName).option("rate", rate.toLong).load(),
      name,
      Trigger.RealTime(every)
    )

  /** The query that copies the records to another stream. */
  def copying(to: String): Start = (name, every) =>
    kinesis(efo(name)).select("partitionKey", "data").writeStream.format("kinesis")
      .options(connection ++ Map("streamName" -> to, "sendWhenIdle" -> "true"))
      .option("checkpointLocation", checkpoint()).outputMode("update").trigger(Trigger.RealTime(every)).start()

  private def efo(name: String) = Map("consumerMode" -> "efo", "consumerName" -> name)

  private def kinesis(options: Map[String, String]): DataFrame = spark.readStream.format("kinesis")
    .options(connection + ("streamName" -> ReadingStream.Name) ++ options).load()

  private def rows(of: DataFrame, name: String, trigger: Trigger): StreamingQuery =
    of.writeStream.foreach(SeenRows(name).writer)
      .option("checkpointLocation", checkpoint()).outputMode("update").trigger(trigger).start()

  private def checkpoint() = Files.createTempDirectory("bench").toString
}

object LiveQueries {

  /** Starts a query with a name and the length of its batches. */
  type Start = (String, String) => StreamingQuery
}
