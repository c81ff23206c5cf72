package org.sparkkinesis.integration.read

import java.time.Instant

import scala.concurrent.duration._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.integration.SparkSuite

/** Batch reads of records that expire after the read was planned and before its tasks begin. */
class BatchExpirySuite extends SparkSuite {

  /** Plans a read from before two records, of which one expires before the tasks begin. */
  private def planned(stream: String, options: (String, String)*): DataFrame = {
    kinesis.admin.createStream(stream, 1)
    kinesis.admin.putRecord(stream, "k", utf8("old"))
    val position = Instant.ofEpochMilli(kinesis.admin.records(stream, "shardId-000000000000").head.arrivalMillis)
    kinesis.admin.clock.advance(23.hours)
    kinesis.admin.putRecord(stream, "k", utf8("new"))
    val data = spark.read.format("kinesis").options(connection(stream) ++ options)
      .option("initialPosition", position.toString).load().selectExpr("cast(data as string)")
    val scans = data.queryExecution.executedPlan.collect { case scan: BatchScanExec => scan }
    assert(scans.map(_.inputPartitions.size) == Seq(1))
    kinesis.admin.clock.advance(2.hours)
    data
  }

  test("records that expire after a batch read was planned are data loss") {
    val failure = intercept[Exception](planned("strict").collect())
    val conditions = Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null)
      .collect { case loss: KinesisConnectorException => loss.condition }.toSeq
    assert(conditions.contains("KINESIS_DATA_LOSS"))
  }

  test("a batch read delivers the remaining records if it goes on after data loss") {
    assert(planned("lenient", "failOnDataLoss" -> "false").collect().map(_.getString(0)).toSeq == Seq("new"))
  }
}
