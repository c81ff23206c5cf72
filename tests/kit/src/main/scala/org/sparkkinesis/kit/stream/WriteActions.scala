package org.sparkkinesis.kit.stream

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col

/** Adds one row per number to the input of a query that writes to the stream. */
final case class AddRows(numbers: Seq[Int]) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.input.addData(numbers)
}

/**
 * Starts a query that writes the rows of [[AddRows]] to the stream, again with the same checkpoint when it ran before.
 *
 * @param options
 *   options of the sink, which override the connection's
 * @param rows
 *   the rows to write, from a column `value` with the numbers; by default, the number is the key and the data
 */
final case class StartWrite(
    options: Map[String, String] = Map.empty,
    rows: DataFrame => DataFrame = StartWrite.keyAndData
) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.started(
    rows(in.input.toDF()).writeStream.format("kinesis").options(in.writeOptions ++ options)
      .option("checkpointLocation", in.checkpoint).start()
  )

  override def toString: String = s"StartWrite($options)"
}

object StartWrite {
  private val text = col("value").cast("string")

  /** Returns rows whose partition key and data are the number as text. */
  def keyAndData(numbers: DataFrame): DataFrame = numbers.select(text.as("partitionKey"), text.as("data"))
}
