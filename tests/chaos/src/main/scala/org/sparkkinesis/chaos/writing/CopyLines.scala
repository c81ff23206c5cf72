package org.sparkkinesis.chaos.writing

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger

/** The query that is killed: `FOLDER ENDPOINT REGION`; one file of lines a micro-batch, until all are copied. */
object CopyLines {
  def main(args: Array[String]): Unit = {
    val Array(folder, endpoint, region) = args: @unchecked
    val spark = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.readStream
      .option("maxFilesPerTrigger", "1")
      .text(s"$folder/input")
      .select(col("value").as("data"), concat(lit("k"), col("value").cast("long") % 100).as("partitionKey"))
      .writeStream
      .format("kinesis")
      .options(Map(
        "streamName" -> "copied",
        "endpoint" -> endpoint,
        "region" -> region,
        "awsAccessKey" -> "AKIDEXAMPLE",
        "awsSecretKey" -> "secret"
      ))
      .option("checkpointLocation", s"$folder/checkpoint")
      .trigger(Trigger.AvailableNow())
      .start()
      .awaitTermination()
    spark.stop()
  }
}
