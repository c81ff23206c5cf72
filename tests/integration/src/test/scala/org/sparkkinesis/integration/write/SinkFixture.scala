package org.sparkkinesis.integration.write

import org.apache.spark.sql.{DataFrame, DataFrameWriter, Row}

import org.sparkkinesis.aggregate.Deaggregator
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.model.KinesisRecord

/** Shared parts of the sink's suites: writers, and the records of a stream. */
abstract class SinkFixture extends SparkSuite {
  protected val format: String = "kinesis"

  protected def target: Map[String, String] = connection("none") - "streamName"

  protected def writer(rows: DataFrame, set: (String, String)*): DataFrameWriter[Row] =
    rows.write.format(format).mode("append").options(target).options(set.toMap)

  /** Returns the user records of a stream, shard by shard, with aggregates unpacked. */
  protected def read(stream: String): Seq[(String, String)] =
    kinesis.admin.records(stream).flatMap { (record: KinesisRecord) =>
      Option(Deaggregator.open(record.data)) match {
        case Some(users) => (0 until users.count).map(i => users.partitionKey(i) -> new String(users.data(i), "UTF-8"))
        case None => Seq(record.partitionKey -> new String(record.data, "UTF-8"))
      }
    }

  /** Returns the condition and message of the connector's error inside Spark's exceptions. */
  protected def conditionOf(body: => Any): (String, String) = {
    val error = intercept[Throwable](body)
    val chain = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toSeq
    chain
      .flatMap(cause => Option(cause.getMessage))
      .flatMap("\\[(KINESIS_[A-Z_]+)\\]".r.findFirstMatchIn(_))
      .headOption
      .map(found => found.group(1) -> chain.map(_.getMessage).mkString("\n"))
      .getOrElse(throw error)
  }
}
