package org.sparkkinesis.integration.write

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.OutputMode

import org.sparkkinesis.kit.stream._
import org.sparkkinesis.spark.sink.invalid.DeadLetterTable

class StreamingWriteSuite extends SinkFixture {
  private def stored(stream: String): Seq[Int] = read(stream).map(_._2.toInt).sorted

  test("the rows of every micro-batch are written, and the progress counts them") {
    val batches = (0 until 500 by 100).flatMap(n => Seq(AddRows(n until n + 100), ProcessAllAvailable))
    testStream("appended", 2)(
      StartWrite() +: batches :+ Execute("check the rows and the progress") { run =>
        assert(stored(run.stream) == (0 until 500))
        val metrics = run.query.recentProgress.filter(_.numInputRows > 0).last.sink.metrics.asScala
        assert(metrics.get("recordsOut") == Some("100"))
        assert(metrics.get("totalRecordsOut") == Some("500"))
      }: _*
    )
  }

  test("an aggregation in update mode writes each changed row") {
    import spark.implicits._
    kinesis.admin.createStream("updated", 1)
    val input = MemoryInput[String](spark)
    val query = input.toDF().groupBy(col("value")).count()
      .select(col("value").as("partitionKey"), col("count").cast("string").as("data"))
      .writeStream.format(format).options(writeOptions("updated")).option("checkpointLocation", checkpoint())
      .outputMode(OutputMode.Update()).start()
    input.addData(Seq("a", "b", "a"))
    query.processAllAvailable()
    input.addData(Seq("a"))
    query.processAllAvailable()
    assert(read("updated").sorted == Seq("a" -> "2", "a" -> "3", "b" -> "1").sorted)
    query.stop()
  }

  test("a micro-batch that is committed again appends its invalid rows to the table once") {
    spark.sql(s"CREATE TABLE again (${DeadLetterTable.schema.toDDL}) USING parquet")
    val someInvalid = StartWrite(
      Map("onInvalidRecord" -> "deadLetter", "deadLetterTable" -> "again"),
      numbers =>
        StartWrite.keyAndData(numbers)
          .withColumn("partitionKey", when(col("data") % 10 === 0, "").otherwise(col("partitionKey")))
    )
    testStream("again", 1)(
      AddRows(1 to 50),
      someInvalid,
      ProcessAllAvailable,
      StopStream,
      // Simulates that the driver died between the table's commit and Spark's.
      Execute("delete the commits") { run =>
        val commits = Files.list(Path.of(run.checkpoint, "commits"))
        try commits.iterator.asScala.toSeq.foreach(file => Files.delete(file))
        finally commits.close()
      },
      someInvalid,
      ProcessAllAvailable,
      StopStream,
      AddRows(51 to 100),
      someInvalid,
      ProcessAllAvailable,
      StopStream
    )
    assert(stored("again").groupBy(identity).map(_._2.size).toSet == Set(1, 2))
    val letters = spark.table("again").select(col("data").cast("string")).collect().map(_.getString(0).toInt)
    assert(letters.sorted.toSeq == (10 to 100 by 10))
  }

  test("a missing stream ends the query with its condition") {
    testStream("nowhere", 1)(
      Execute("delete the stream")(run => kinesis.admin.deleteStream(run.stream)),
      StartWrite(),
      AddRows(Seq(1)),
      ExpectFailure("KINESIS_STREAM_NOT_FOUND")
    )
  }
}
