package org.sparkkinesis.integration.log

import scala.util.Using

import org.apache.spark.sql.streaming.{DataStreamWriter, Trigger}
import org.apache.spark.sql.{DataFrame, Row}

import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{FetchBufferReduced, OptionWithoutEffect}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

/** Options without an effect, as a user of Spark meets them. `EffectCheckSuite` has the whole matrix. */
class OptionEffectsSuite extends SparkSuite {
  private def failure(body: => Any): KinesisConnectorException =
    try {
      body
      fail("it ended without an error")
    } catch {
      case error: Throwable => Iterator.iterate(error)(_.getCause).takeWhile(_ != null).collectFirst {
          case found: KinesisConnectorException => found
        }.getOrElse(throw error)
    }

  /** Runs `body`, and returns the warnings about options without an effect. */
  private def warnings(body: => Any): Vector[String] = Using.resource(new RecordedLog("has no effect here")) { log =>
    body
    log.visible.map(_.message)
  }

  private def expected(option: String, reason: String): String =
    OptionWithoutEffect(s"Option '$option' has no effect here. $reason").message

  private def rows: DataFrame = spark.range(3).selectExpr("CAST(id AS STRING) partitionKey", "CAST('v' AS BINARY) data")

  private def create(stream: String): String = {
    kinesis.admin.createStream(stream, 1)
    kinesis.admin.putRecord(stream, "k", utf8("v"))
    stream
  }

  test("an option of the other side is an error in a direct read and a direct write") {
    val read = connection(create("sided")) + ("aggregation" -> "true")
    val direct = Seq(
      failure(spark.read.format("kinesis").options(read).load().collect()),
      failure(
        spark.readStream.format("kinesis").options(read).load().writeStream.format("noop")
          .option("checkpointLocation", checkpoint()).start().processAllAvailable()
      )
    )
    direct.foreach { error =>
      assert(error.getMessage == "[KINESIS_OPTION_WITHOUT_EFFECT] Option 'aggregation' has no effect here. " +
        "Cause: It is an option of writes, and this is a read. Fix: Remove 'aggregation'.")
    }
    val write = failure(
      rows.write.format("kinesis").mode("append").options(connection("sided")).option(
        "initialPosition",
        "latest"
      ).save()
    )
    assert(write.condition == "KINESIS_OPTION_WITHOUT_EFFECT" && write.parameters("option") == "initialPosition")
    assert(kinesis.admin.recordCount("sided") == 1)
  }

  test("a table may have options of both sides, which are warnings of the side that does not use them") {
    val options = connection(create("both")) ++ Map("aggregation" -> "true", "initialPosition" -> "trim_horizon")
    val text = options.map { case (key, value) => s"$key '$value'" }.mkString(", ")
    spark.sql(s"CREATE TABLE both_sides USING kinesis OPTIONS ($text)")
    try {
      val read = warnings(assert(spark.table("both_sides").count() == 1))
      assert(read.distinct == Vector(expected("aggregation", "It is an option of writes, and this is a read.")))
      val written = warnings(rows.writeTo("both_sides").append())
      assert(written.distinct == Vector(expected("initialPosition", "It is an option of reads, and this is a write.")))
    } finally spark.sql("DROP TABLE both_sides")
  }

  test("the type of a query decides about options of a trigger") {
    create("typed")
    val options = Seq("endingPosition" -> "2030-01-01T00:00:00Z", "minRecordsPerTrigger" -> "1")
    def run(trigger: Trigger): Vector[String] = warnings {
      val query = readStream("typed", options: _*).load().writeStream.trigger(trigger)
        .option("checkpointLocation", checkpoint()).foreachBatch((new Collected).sink).start()
      query.processAllAvailable()
      query.stop()
    }
    val ending = expected(
      "endingPosition",
      "It applies to batch queries, and this is a streaming query with a processing-time trigger."
    )
    assert(run(Trigger.ProcessingTime(0)) == Vector(ending))
    val ended = run(Trigger.AvailableNow())
    assert(
      ended.size == 2 && ended.forall(_.endsWith("and this is a streaming query with Trigger.AvailableNow.")),
      ended
    )
  }

  test("a fetch buffer of the size of a cluster is reduced with a warning") {
    val options = Seq("fetchBufferSize" -> "1000g")
    create("buffered")
    Using.resource(new RecordedLog("fetchBufferSize")) { log =>
      val query = readStream("buffered", options: _*).load().writeStream
        .option("checkpointLocation", checkpoint()).foreachBatch((new Collected).sink).start()
      query.processAllAvailable()
      query.stop()
      val granted = Runtime.getRuntime.maxMemory / 100 * ReadOptions.MaxBufferPercent
      assert(log.visible.map(_.message) == Vector(FetchBufferReduced(1000L << 30, granted).message))
    }
  }

  test("fan-out in a batch read is a warning, and the read polls") {
    val options = connection(create("polled")) ++ Map("consumerMode" -> "efo", "consumerName" -> "etl")
    val found = warnings(assert(spark.read.format("kinesis").options(options).load().count() == 1))
    val reason = "It applies to streaming queries, and this is a batch query."
    assert(found.distinct.sorted == Vector(expected("consumerMode", reason), expected("consumerName", reason)))
  }

  test("an option of streaming writes is a warning in a batch write, also within foreachBatch") {
    val stream = create("refreshed")
    kinesis.admin.setMetadata(
      s"""{"version": 1, "streams": {"orders": [{"arn": "arn:aws:kinesis:us-east-1:123456789012:stream/$stream"}]}}"""
    )
    val options = connection("refreshed") - "streamName" ++
      Map("streamId" -> "orders", "metadataService" -> kinesis.metadataUrl, "metadataRefreshInterval" -> "10s")
    def write(frame: DataFrame): Unit = frame.write.format("kinesis").mode("append").options(options).save()
    val expects = expected("metadataRefreshInterval", "It applies to streaming queries, and this is a batch query.")
    assert(warnings(write(rows)).distinct == Vector(expects))
    val source = readStream(create("source-of-refreshed")).load().select("partitionKey", "data")
    def run(start: DataStreamWriter[Row] => DataStreamWriter[Row]): Vector[String] = warnings {
      val query = start(source.writeStream.option("checkpointLocation", checkpoint()))
        .trigger(Trigger.AvailableNow()).start()
      query.awaitTermination()
    }
    assert(run(_.foreachBatch((batch: DataFrame, _: Long) => write(batch))).distinct == Vector(expects))
    assert(run(_.format("kinesis").options(options)) == Vector.empty)
  }

  test("an option for a stream that a write does not have is an error that names the nearest one") {
    val options = connection(create("written")) + ("roleArn.writen" -> "arn:aws:iam::123456789012:role/writer")
    val error = failure(rows.write.format("kinesis").mode("append").options(options).save())
    assert(error.condition == "KINESIS_OPTION_UNKNOWN")
    assert(error.getMessage.endsWith("Did you mean 'roleArn.written'?"), error.getMessage)
  }
}
