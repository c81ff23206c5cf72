package org.sparkkinesis.integration.write

import java.nio.file.Files

import org.apache.spark.sql.functions.{col, lit, when}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{Column, DataFrame, Dataset, Row}

/** Tests copies of streams: the rows of a source have a column `stream` with the name of their stream. */
class CopySuite extends SinkFixture {
  private def source(stream: String): DataFrame =
    spark.readStream.format(format).options(target ++ Seq("streamName" -> stream, "initialPosition" -> "trim_horizon"))
      .load()

  private def copy(rows: DataFrame, set: (String, String)*): StreamingQuery = rows.writeStream
    .format(format)
    .options(target ++ set)
    .option("checkpointLocation", Files.createTempDirectory("checkpoint").toString)
    .trigger(Trigger.AvailableNow())
    .start()

  private def create(stream: String, records: Int): String = {
    val arn = kinesis.admin.createStream(stream, 2)
    (1 to records).foreach(i => kinesis.admin.putRecord(stream, s"key-$i", s"value $i".getBytes("UTF-8")))
    arn
  }

  test("a copy is written to the sink's stream, not to the stream in its column") {
    create("a", 100)
    create("b", 0)
    copy(source("a"), "streamName" -> "b").processAllAvailable()
    assert(read("b").map(_._2).toSet == (1 to 100).map(i => s"value $i").toSet)
    assert(kinesis.admin.recordCount("a") == 100)
  }

  test(
    "a query that would write to the stream it reads is an error, by name and by ARN, for all rows and for some"
  ) {
    val arn = create("loop", 10)
    create("elsewhere", 0)
    def rows(stream: Column): DataFrame = source("loop").withColumn("stream", stream)
    val attempts = Seq[() => StreamingQuery](
      () => copy(source("loop"), "streamName" -> "loop"),
      () => copy(source("loop"), "streamARN" -> arn),
      () => copy(source("loop")),
      () => copy(rows(when(col("partitionKey") === "key-7", arn).otherwise("elsewhere"))),
      () =>
        copy(
          source("loop"),
          "streamName" -> "elsewhere",
          "onInvalidRecord" -> "deadLetter",
          "deadLetterStream" -> "loop"
        )
    )
    attempts.zipWithIndex.foreach { case (attempt, i) =>
      assert(conditionOf(attempt().processAllAvailable())._1 == "KINESIS_SINK_LOOP", s"attempt $i")
    }
    assert(kinesis.admin.recordCount("loop") == 10)
  }

  test(
    "a batch write within foreachBatch is an error too; a batch read can be written to its own stream"
  ) {
    create("within", 10)
    val again: (Dataset[Row], Long) => Unit = (rows, _) => writer(rows, "streamName" -> "within").save()
    val query = source("within").writeStream
      .option("checkpointLocation", Files.createTempDirectory("checkpoint").toString)
      .trigger(Trigger.AvailableNow())
      .foreachBatch(again)
      .start()
    assert(conditionOf(query.processAllAvailable())._1 == "KINESIS_SINK_LOOP")
    assert(kinesis.admin.recordCount("within") == 10)
    val batch = spark.read.format(format).options(target + ("streamName" -> "within")).load()
    writer(batch.withColumn("stream", lit(null).cast("string")), "streamName" -> "within").save()
    assert(kinesis.admin.recordCount("within") == 20)
  }

  test("two queries can copy two streams into each other") {
    create("left", 5)
    create("right", 5)
    copy(source("left"), "streamName" -> "right").processAllAvailable()
    assert(kinesis.admin.recordCount("right") == 10)
    copy(source("right"), "streamName" -> "left").processAllAvailable()
    assert(kinesis.admin.recordCount("left") == 15)
  }
}
