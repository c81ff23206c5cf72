package org.sparkkinesis.integration.write

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery, Trigger}

import org.sparkkinesis.spark.sink.invalid.DeadLetterTable

class StreamingWriteSuite extends SinkFixture {
  private def start(
      rows: DataFrame,
      stream: String,
      mode: OutputMode,
      set: (String, String)*
  ): StreamingQuery = rows.writeStream
    .format(format)
    .options(target + ("streamName" -> stream))
    .options(set.toMap - "checkpointLocation")
    .option(
      "checkpointLocation",
      set.toMap.getOrElse("checkpointLocation", checkpoint())
    )
    .outputMode(mode)
    .trigger(Trigger.ProcessingTime(0))
    .start()

  test("the rows of every micro-batch are written, and the progress counts them") {
    implicit val sql = spark.sqlContext
    import spark.implicits._
    kinesis.admin.createStream("appended", 2)
    val input = MemoryStream[Int]
    val query = start(
      input.toDF().select(col("value").cast("string").as("partitionKey"), col("value").cast("string").as("data")),
      "appended",
      OutputMode.Append()
    )
    (0 until 5).foreach { batch =>
      input.addData(batch * 100 until batch * 100 + 100)
      query.processAllAvailable()
    }
    assert(read("appended").map(_._2.toInt).sorted == (0 until 500).toSeq)
    val metrics = query.recentProgress.filter(_.numInputRows > 0).last.sink.metrics.asScala
    assert(metrics.get("recordsOut") == Some("100"))
    assert(metrics.get("totalRecordsOut") == Some("500"))
    query.stop()
  }

  test("an aggregation in update mode writes each changed row") {
    implicit val sql = spark.sqlContext
    import spark.implicits._
    kinesis.admin.createStream("updated", 1)
    val input = MemoryStream[String]
    val counts = input.toDF().groupBy(col("value")).count()
    val query = start(
      counts.select(col("value").as("partitionKey"), col("count").cast("string").as("data")),
      "updated",
      OutputMode.Update()
    )
    input.addData("a", "b", "a")
    query.processAllAvailable()
    input.addData("a")
    query.processAllAvailable()
    assert(read("updated").sorted == Seq("a" -> "2", "a" -> "3", "b" -> "1").sorted)
    query.stop()
  }

  test("a micro-batch that is committed again appends its invalid rows to the table once") {
    implicit val sql = spark.sqlContext
    import spark.implicits._
    kinesis.admin.createStream("again", 1)
    spark.sql(s"CREATE TABLE again (${DeadLetterTable.schema.toDDL}) USING parquet")
    val at = Path.of(checkpoint())
    val input = MemoryStream[Int]
    def run(): Unit = {
      val query = start(
        input.toDF().select(
          when(col("value") % 10 === 0, "").otherwise(col("value").cast("string")).as("partitionKey"),
          col("value").cast("string").as("data")
        ),
        "again",
        OutputMode.Append(),
        "onInvalidRecord" -> "deadLetter",
        "deadLetterTable" -> "again",
        "checkpointLocation" -> at.toString
      )
      query.processAllAvailable()
      query.stop()
    }
    input.addData(1 to 50)
    run()
    // Simulates that the driver died between the table's commit and Spark's.
    val commits = Files.list(at.resolve("commits"))
    try commits.iterator.asScala.toSeq.foreach(file => Files.delete(file))
    finally commits.close()
    run()
    input.addData(51 to 100)
    run()
    assert(read("again").map(_._2.toInt).groupBy(identity).map(_._2.size).toSet == Set(1, 2))
    val letters = spark.table("again").select(col("data").cast("string")).collect().map(_.getString(0).toInt)
    assert(letters.sorted.toSeq == (10 to 100 by 10))
  }

  test("a missing stream ends the query with its condition") {
    implicit val sql = spark.sqlContext
    import spark.implicits._
    val input = MemoryStream[String]
    val rows = input.toDF().select(col("value").as("partitionKey"), col("value").as("data"))
    val (condition, _) = conditionOf {
      input.addData("a")
      start(rows, "nowhere", OutputMode.Append()).processAllAvailable()
    }
    assert(condition == "KINESIS_STREAM_NOT_FOUND")
  }
}
