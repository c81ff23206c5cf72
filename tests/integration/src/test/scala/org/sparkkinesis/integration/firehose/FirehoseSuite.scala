package org.sparkkinesis.integration.firehose

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import org.sparkkinesis.integration.write.SinkFixture
import org.sparkkinesis.kit.stream.MemoryInput
import org.sparkkinesis.spark.sink.invalid.DeadLetterTable

/** `format("firehose")` in Spark, against the emulator. Each record is a line, so that files can be counted. */
class FirehoseSuite extends SinkFixture {
  override protected val format: String = "firehose"

  private def lines(count: Int): DataFrame =
    spark.range(count.toLong).select(concat(col("id"), lit("\n")).as("data"), col("id").as("ignored"))

  private def to(name: String, set: (String, String)*): Seq[(String, String)] = {
    if (!created(name)) {
      kinesis.admin.createDeliveryStream(name)
      created += name
    }
    ("deliveryStreamName" -> name) +: set
  }
  private val created = scala.collection.mutable.Set.empty[String]

  /** The lines of all files of the delivery stream. */
  private def delivered(name: String): Seq[Int] = {
    val folder = kinesis.deliveryFolder.resolve(name)
    if (!Files.exists(folder)) Nil
    else Using.resource(Files.walk(folder)) { paths =>
      paths.iterator.asScala.filter(Files.isRegularFile(_)).flatMap(Files.readAllLines(_).asScala).map(_.toInt).toVector
    }
  }

  test("every row of a batch is delivered once, with several tasks") {
    writer(lines(20000).repartition(4), to("all"): _*).save()
    assert(delivered("all").sorted == (0 until 20000))
  }

  test("refused records are sent again until all are delivered, and nothing else is repeated") {
    val set = to("refused", "maxTimeInBuffer" -> "10ms", "retry.putRecordBatch.backoff.base" -> "5ms")
    val rules = Seq(
      """{"effect":"failEntries","errorType":"ServiceUnavailableException","stream":"refused","probability":0.3}""",
      """{"effect":"error","errorType":"ServiceUnavailableException","status":503,"stream":"refused","count":5}"""
    )
    rules.foreach(kinesis.admin.addFault)
    try writer(lines(5000), set: _*).save()
    finally kinesis.faults.clear()
    assert(delivered("refused").sorted == (0 until 5000))
  }

  private def start(rows: DataFrame, name: String, at: String): StreamingQuery = rows
    .select(concat(col("value"), lit("\n")).as("data"))
    .writeStream.format(format).options(target).options(to(name).toMap)
    .option("checkpointLocation", at)
    .trigger(Trigger.ProcessingTime(0))
    .start()

  test("a query that restarts delivers each row at least once, and repeats only the batch whose commit was lost") {
    import spark.implicits._
    val at = Path.of(checkpoint())
    val input = MemoryInput[Int](spark)
    def run(): Unit = {
      val query = start(input.toDF(), "restarted", at.toString)
      query.processAllAvailable()
      query.stop()
    }
    input.addData(1 to 50)
    run()
    input.addData(51 to 80)
    run()
    // As if the driver had died after the records were stored and before Spark's commit.
    Seq("1", ".1.crc").foreach(name => Files.delete(at.resolve("commits").resolve(name)))
    input.addData(81 to 100)
    run()
    assert(delivered("restarted").sorted == ((1 to 100) ++ (51 to 80)).sorted)
  }

  test("the progress of a query has the metrics of the sink") {
    import spark.implicits._
    val input = MemoryInput[Int](spark)
    val query = start(input.toDF(), "measured", checkpoint())
    (0 until 3).foreach { batch =>
      input.addData(batch * 100 until batch * 100 + 100)
      query.processAllAvailable()
    }
    val metrics = query.recentProgress.filter(_.numInputRows > 0).last.sink.metrics.asScala
    query.stop()
    assert(metrics("recordsOut") == "100" && metrics("totalRecordsOut") == "300")
    assert(metrics("putRecordBatchRequests").toInt >= 1)
    assert(!metrics.contains("kinesisRecords"))
  }

  test("rows that cannot become records fail the task, are dropped, or go to a table") {
    val mixed = lines(100).withColumn(
      "data",
      when(col("ignored") === 7, lit(null)).when(
        col("ignored") === 8,
        expr(s"repeat('x', ${1000 * 1024 + 1})")
      ).otherwise(col("data"))
    )
    val (condition, message) = conditionOf(writer(mixed, to("failed"): _*).save())
    assert(condition == "KINESIS_SINK_ROW_INVALID")
    assert(message.contains("its column 'data' is null") || message.contains("it has 1024001 bytes"), message)
    writer(mixed, to("dropped", "onInvalidRecord" -> "drop"): _*).save()
    assert(delivered("dropped").size == 98)
    spark.sql(s"CREATE TABLE lost (${DeadLetterTable.schema.toDDL}) USING parquet")
    writer(mixed, to("tabled", "onInvalidRecord" -> "deadLetter", "deadLetterTable" -> "lost"): _*).save()
    assert(delivered("tabled").size == 98)
    val letters = spark.table("lost").select(col("reason"), col("dataBytes")).collect()
    assert(letters.map(row => row.getString(0) -> row.isNullAt(1)).toSet == Set(
      "its column 'data' is null" -> true,
      "it has 1024001 bytes, a delivery stream accepts 1024000" -> false
    ))
  }

  test("a SQL table is inserted into, described without secrets, and cannot be read") {
    val options = (target ++ to("inserted")).map { case (name, value) => s"'$name' '$value'" }.mkString(", ")
    spark.sql(s"CREATE TABLE inserted USING firehose OPTIONS ($options)")
    spark.sql("INSERT INTO inserted (data) VALUES (CAST('1\n' AS BINARY)), (CAST('2\n' AS BINARY))")
    spark.sql("INSERT INTO inserted SELECT CAST(concat(id, '\n') AS BINARY) AS data FROM range(3, 6)")
    assert(delivered("inserted").sorted == (1 to 5))
    val read = intercept[Exception](spark.sql("SELECT * FROM inserted").collect())
    assert(read.getMessage.toLowerCase.contains("batch scan"), read.getMessage)
    spark.sql("DROP TABLE inserted")
  }

  test("wrong options, columns and streams are errors that say what to do") {
    def fails(rows: DataFrame, set: (String, String)*): (String, String) = conditionOf(writer(rows, set: _*).save())
    val rows = lines(1)
    val cases = Seq(
      fails(rows) -> ("KINESIS_OPTION_MISSING" -> "deliveryStreamName"),
      fails(rows, to("x", "streamName" -> "y"): _*) -> ("KINESIS_OPTION_UNKNOWN" -> "no option 'streamName'"),
      fails(rows, to("x", "maxBatchBytes" -> "5m"): _*) -> ("KINESIS_OPTION_INVALID" -> "maxBatchBytes"),
      fails(rows, to("x", "onInvalidRecord" -> "deadLetter"): _*) -> ("KINESIS_OPTION_MISSING" -> "deadLetterTable"),
      fails(rows.drop("data"), to("x"): _*) -> ("KINESIS_SINK_COLUMN_MISSING" -> "to_json"),
      fails(spark.range(1).selectExpr("id AS data"), to("x"): _*) -> ("KINESIS_SINK_COLUMN_TYPE" -> "BINARY or STRING"),
      fails(rows, "deliveryStreamName" -> "nowhere") -> ("KINESIS_STREAM_NOT_FOUND" -> "nowhere")
    )
    cases.foreach { case ((condition, message), (expected, part)) =>
      assert(condition == expected)
      assert(message.contains(part), message)
    }
  }
}
