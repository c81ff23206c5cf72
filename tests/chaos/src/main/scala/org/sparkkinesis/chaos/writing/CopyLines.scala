package org.sparkkinesis.chaos.writing

import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.chaos.query.{QueryOptions, QuerySession}
import org.sparkkinesis.kit.Arguments

/**
 * The main class of the query that tests kill: `--folder F --endpoint E --master M --format F --target NAME
 * --conf.NAME VALUE…`. It copies one file of lines per micro-batch until all are copied. Payloads are lines.
 */
object CopyLines {
  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val folder = arguments("folder")
    val spark = QuerySession.open(arguments("master"), arguments.under("conf."))
    spark.readStream
      .option("maxFilesPerTrigger", "1")
      .text(s"$folder/input")
      .select(
        concat(col("value"), lit("\n")).as("data"),
        concat(lit("k"), col("value").cast("long") % 100).as("partitionKey")
      )
      .writeStream
      .format(arguments("format"))
      .options(QueryOptions.connection(arguments("endpoint")))
      .option(
        if (arguments("format") == "firehose") "deliveryStreamName" else "streamName",
        arguments("target")
      )
      .option("checkpointLocation", s"$folder/checkpoint")
      .trigger(Trigger.AvailableNow())
      .start()
      .awaitTermination()
    spark.stop()
  }
}
