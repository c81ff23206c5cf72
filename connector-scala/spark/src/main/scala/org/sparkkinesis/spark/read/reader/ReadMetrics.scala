package org.sparkkinesis.spark.read.reader

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

import org.sparkkinesis.spark.metric.{TaskSum, TaskValue}

/** The metrics of a read in Spark's SQL tab. */
object ReadMetrics {

  /** A metric with one value per task. Spark aggregates the values of all tasks. */
  final class Counter(val name: String, val description: String) {
    def value(count: Long): CustomTaskMetric = new TaskValue(name, count)
  }

  val rowsFromMemory = new Counter("rowsFromMemory", "rows served from the prefetch buffer")
  val rowsFromService = new Counter("rowsFromService", "rows read again from Kinesis")
  val bytesRead = new Counter("bytesRead", "bytes of payload and partition keys")
  val aggregatedRows = new Counter("aggregatedRows", "rows that came in KPL aggregates")
  val getRecordsCalls = new Counter("getRecordsCalls", "GetRecords calls made by tasks")
  val throttles = new Counter("throttles", "calls of tasks that were throttled")
  val retries = new Counter("retries", "calls that tasks retried")
  val minFetchedMsBehindLatest =
    new Counter("minFetchedMsBehindLatest", "minimum milliseconds behind the tip when the rows were fetched")
  val avgFetchedMsBehindLatest =
    new Counter("avgFetchedMsBehindLatest", "average milliseconds behind the tip when the rows were fetched")
  val maxFetchedMsBehindLatest =
    new Counter("maxFetchedMsBehindLatest", "maximum milliseconds behind the tip when the rows were fetched")

  val all: Array[CustomMetric] = Array(
    new RowsFromMemory,
    new RowsFromService,
    new BytesRead,
    new AggregatedRows,
    new GetRecordsCalls,
    new Throttles,
    new Retries,
    new MinFetchedMsBehindLatest,
    new AvgFetchedMsBehindLatest,
    new MaxFetchedMsBehindLatest
  )
}

/** A sum over tasks. Spark creates the classes below by name. */
sealed abstract class ReadSum(counter: ReadMetrics.Counter) extends TaskSum(counter.name, counter.description)

final class RowsFromMemory extends ReadSum(ReadMetrics.rowsFromMemory)
final class RowsFromService extends ReadSum(ReadMetrics.rowsFromService)
final class BytesRead extends ReadSum(ReadMetrics.bytesRead)
final class AggregatedRows extends ReadSum(ReadMetrics.aggregatedRows)
final class GetRecordsCalls extends ReadSum(ReadMetrics.getRecordsCalls)
final class Throttles extends ReadSum(ReadMetrics.throttles)
final class Retries extends ReadSum(ReadMetrics.retries)

/** Aggregates the lag of all tasks that read something into one number. */
sealed abstract class ReadLag(counter: ReadMetrics.Counter, aggregate: Array[Long] => Long) extends CustomMetric {
  override def name(): String = counter.name
  override def description(): String = counter.description
  override def aggregateTaskMetrics(ofTasks: Array[Long]): String =
    if (ofTasks.isEmpty) "" else aggregate(ofTasks).toString
}

final class MinFetchedMsBehindLatest extends ReadLag(ReadMetrics.minFetchedMsBehindLatest, _.min)
final class AvgFetchedMsBehindLatest
    extends ReadLag(ReadMetrics.avgFetchedMsBehindLatest, lags => (lags.map(BigInt(_)).sum / lags.length).toLong)
final class MaxFetchedMsBehindLatest extends ReadLag(ReadMetrics.maxFetchedMsBehindLatest, _.max)
