package org.sparkkinesis.chaos.query

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Path

import scala.concurrent.duration._

import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{Dataset, Row, SparkSession}

import org.sparkkinesis.kit.Arguments

/**
 * The main class of the process that tests kill: a streaming query that writes every batch to [[BatchFiles]]. Prints
 * `started`, then `batch ID ROWS` for each batch once its file exists. Ends with its standard input.
 *
 * `--source.NAME VALUE` sets an option of the source, `--conf.NAME VALUE` a setting of the session.
 */
object QueryMain {
  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    endWithInput()
    val files = new BatchFiles(Path.of(arguments("output")))
    val actions = arguments.number("actions", 1)
    val spark = QuerySession.open(arguments("master"), arguments.under("conf."))
    val query = spark.readStream
      .format("kinesis")
      .options(arguments.under("source."))
      .load()
      .writeStream
      .option("checkpointLocation", arguments("checkpoint"))
      .trigger(Trigger.ProcessingTime(arguments.number("trigger", 0).millis))
      .foreachBatch { (rows: Dataset[Row], id: Long) =>
        val seen = Seq.fill(actions)(()).zipWithIndex.map { case (_, i) => look(rows, i) }
        files.write(id, seen)
        println(s"batch $id ${seen.head.size}")
      }
      .start()
    println("started")
    query.awaitTermination()
  }

  /** Runs one action as a separate job. Later actions also have a different plan. */
  private def look(rows: Dataset[Row], action: Int): Seq[SeenRecord] = {
    val wanted = rows.select("data", "partitionKey", "shardId", "sequenceNumber")
    val planned = if (action == 0) wanted else wanted.where("length(partitionKey) > 0")
    planned.collect().toSeq.map { row =>
      SeenRecord(
        new String(row.getAs[Array[Byte]](0), UTF_8).trim.toLong,
        row.getString(1),
        row.getString(2),
        row.getString(3)
      )
    }
  }

  private def endWithInput(): Unit = {
    val watch = new Thread(
      () => {
        while (System.in.read() >= 0) {}
        Runtime.getRuntime.halt(3)
      },
      "end-with-input"
    )
    watch.setDaemon(true)
    watch.start()
  }
}

/** Sessions of the chaos tests. */
object QuerySession {

  /**
   * Lets a query restart after a kill during its first offset. The kill leaves a temporary file, and Spark 4.2 then
   * rejects the checkpoint with STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY unless this check is off.
   */
  val RestartsFromAnything: Map[String, String] =
    Map("spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart" -> "false")

  def open(master: String, settings: Map[String, String]): SparkSession = {
    val standard = Map(
      "spark.ui.enabled" -> "false",
      "spark.driver.bindAddress" -> "127.0.0.1",
      "spark.driver.host" -> "127.0.0.1",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.sql.streaming.pollingDelay" -> "10ms"
    )
    (standard ++ RestartsFromAnything ++ settings)
      .foldLeft(SparkSession.builder().master(master).appName("kinesis-chaos")) { case (builder, (key, value)) =>
        builder.config(key, value)
      }
      .getOrCreate()
  }
}
