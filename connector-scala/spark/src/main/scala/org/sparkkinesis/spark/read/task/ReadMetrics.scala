package org.sparkkinesis.spark.read.task

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** What the SQL tab shows of a read. */
object ReadMetrics {

  /** A number that tasks count and Spark adds up. */
  final class Counter(val name: String) {
    def value(count: Long): CustomTaskMetric = new CustomTaskMetric {
      override def name(): String = Counter.this.name
      override def value(): Long = count
    }
  }

  val fromMemory = new Counter("rowsFromMemory")
  val fromService = new Counter("rowsFromService")

  val all: Array[CustomMetric] = Array(new RowsFromMemory, new RowsFromService)
}

/** Made by Spark, by its name. */
final class RowsFromMemory extends CustomSumMetric {
  override def name(): String = ReadMetrics.fromMemory.name
  override def description(): String = "rows served from the prefetch buffer"
}

/** Made by Spark, by its name. */
final class RowsFromService extends CustomSumMetric {
  override def name(): String = ReadMetrics.fromService.name
  override def description(): String = "rows read again from Kinesis"
}
