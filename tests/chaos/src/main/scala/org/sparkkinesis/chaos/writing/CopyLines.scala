package org.sparkkinesis.chaos.writing

import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.chaos.query.QuerySession
import org.sparkkinesis.kit.Arguments

/**
 * The main class of the query that tests kill: `--folder F --endpoint E --region R --master M --conf.NAME VALUE…`. It
 * copies one file of lines per micro-batch until all are copied.
 */
object CopyLines {
  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val folder = arguments("folder")
    val spark = QuerySession.open(arguments("master"), arguments.under("conf."))
    spark.readStream
      .option("maxFilesPerTrigger", "1")
      .text(s"$folder/input")
      .select(col("value").as("data"), concat(lit("k"), col("value").cast("long") % 100).as("partitionKey"))
      .writeStream
      .format("kinesis")
      .options(Map(
        "streamName" -> "copied",
        "endpoint" -> arguments("endpoint"),
        "region" -> arguments("region"),
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
