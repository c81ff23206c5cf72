package org.sparkkinesis.integration.write

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.sparkkinesis.MetricsSource
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.execution.{QueryExecution, SparkPlan}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.util.QueryExecutionListener

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.spark.write.KinesisSink

/** Flow control of a throttled write in a query's progress, in the SQL tab, and in the metrics system. */
class FlowMetricsSuite extends SinkFixture {
  private val Rows = 2000

  private def rows(numbers: DataFrame, column: String): DataFrame =
    numbers.select(col(column).cast("string").as("partitionKey"), lit("text").as("data"))

  /** Creates a stream of one shard that refuses most of the first entries. */
  private def throttledStream(name: String): Unit = {
    kinesis.admin.createStream(name, 1)
    val refusal = FaultEffect.FailEntries("ProvisionedThroughputExceededException", "injected")
    kinesis.faults.add(FaultRule(refusal, "PutRecords", name, count = 1500)): Unit
  }

  private def nodes(plan: SparkPlan): Seq[SparkPlan] = plan +:
    (plan.children ++ plan.subqueries ++
      plan.innerChildren.collect { case inner: SparkPlan => inner }).flatMap(nodes)

  /** Returns the values of the metrics that the SQL tab shows for a write. */
  private def shownOf(stream: String, set: (String, String)*): Map[String, Long] = {
    val executed = new CompletableFuture[SparkPlan]
    // Spark tells listeners later, so the listener may still hear of executions of earlier tests.
    val before = spark.emptyDataFrame.queryExecution.id
    val listener = new QueryExecutionListener {
      override def onSuccess(name: String, execution: QueryExecution, nanos: Long): Unit =
        if (execution.id > before) executed.complete(execution.executedPlan): Unit
      override def onFailure(name: String, execution: QueryExecution, error: Exception): Unit =
        if (execution.id > before) executed.completeExceptionally(error): Unit
    }
    spark.listenerManager.register(listener)
    try {
      writer(rows(spark.range(Rows.toLong).toDF(), "id"), (set :+ ("streamName" -> stream)): _*).save()
      nodes(executed.get(1, TimeUnit.MINUTES)).flatMap(_.metrics).map { case (name, metric) =>
        name -> metric.value
      }.toMap
    } finally spark.listenerManager.unregister(listener)
  }

  private def progressOf(stream: String, set: (String, String)*): Map[String, Double] = {
    implicit val sql = spark.sqlContext
    import spark.implicits._
    throttledStream(stream)
    val input = MemoryStream[Int]
    val query = rows(input.toDF(), "value").writeStream.format(format).options(target ++ set + ("streamName" -> stream))
      .option("checkpointLocation", checkpoint()).start()
    input.addData(0 until Rows)
    query.processAllAvailable()
    val shown = query.recentProgress.filter(_.numInputRows > 0).last.sink.metrics.asScala.view.mapValues(_.toDouble)
    assert(shown("recordsOut") == Rows && kinesis.admin.recordCount(stream) == Rows)
    shown.toMap
  }

  test("the progress of a query shows throttled records, and the time that the shard's limit held records back") {
    val shown = progressOf("query")
    assert(shown("recordsThrottled") > 0 && shown("shardWaitTimeMs") > 0, shown.toString)
    assert((shown("pacedShards") == 0) == (shown("lowestShardRate") == 0), shown.toString)
  }

  test("the progress of a query shows the time that a strategy held requests back") {
    val shown = progressOf("strategy", "rateLimiting" -> "batchAndDelay", "shardLimits" -> "false")
    assert(shown("recordsThrottled") > 0 && shown("rateLimitWaitTimeMs") > 0, shown.toString)
    assert(shown("maxBatchSizeNow") >= 1, shown.toString)
  }

  test("the SQL tab shows all metrics, with the limits in force") {
    throttledStream("table")
    val shown = shownOf("table")
    KinesisSink.metrics.foreach(metric => assert(shown.contains(metric.name), metric.name))
    assert(shown("maxBatchSizeNow") >= 1 && shown("currentLimit") >= 1, shown.toString)
  }

  test("the metrics system shows the time that the limit of a shard held records back") {
    throttledStream("system")
    def waited = MetricsSource.values(KinesisSink.writers.sourceName).getOrElse("shardWaitTimeMs", 0.0)
    val before = waited
    writer(rows(spark.range(Rows.toLong).toDF(), "id"), "streamName" -> "system").save()
    assert(waited > before)
  }

  test("an error that the user's option declares recoverable is retried") {
    kinesis.admin.createStream("tolerant", 1)
    val denied = FaultRule(FaultEffect.Error(400, "AccessDeniedException", "injected"), "PutRecords", "tolerant")
    def save(set: (String, String)*): Unit =
      writer(rows(spark.range(10).toDF(), "id").coalesce(1), (set :+ ("streamName" -> "tolerant")): _*).save()
    val always = kinesis.faults.add(denied)
    assert(conditionOf(save())._1 == "KINESIS_ACCESS_DENIED")
    kinesis.faults.remove(always)
    val some = kinesis.faults.add(denied.copy(count = 3))
    save("retry.recoverableErrors" -> "AccessDeniedException")
    assert(kinesis.faults.hits(some) == 3 && kinesis.admin.recordCount("tolerant") == 10)
  }
}
