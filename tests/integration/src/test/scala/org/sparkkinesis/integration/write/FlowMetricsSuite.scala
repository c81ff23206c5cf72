package org.sparkkinesis.integration.write

import scala.jdk.CollectionConverters._

import org.apache.spark.sparkkinesis.MetricsSource
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.kit.stream.MemoryInput
import org.sparkkinesis.spark.write.KinesisSink

/** Flow control of a throttled write in a query's progress, in the SQL tab, and in the metrics system. */
class FlowMetricsSuite extends SinkFixture {
  private val Rows = 1000

  /** Rows of 4 MB, so that a shard with its documented limit needs seconds for them. */
  private def rows(numbers: DataFrame, column: String): DataFrame =
    numbers.select(col(column).cast("string").as("partitionKey"), lit("text" * 1024).as("data"))

  /** Lets a stream refuse some of the next entries. */
  private def refuseSome(stream: String): Unit = {
    val refusal = FaultEffect.FailEntries("ProvisionedThroughputExceededException", "injected")
    kinesis.faults.add(FaultRule(refusal, "PutRecords", stream, count = 300)): Unit
  }

  /** Returns the values of the metrics that the SQL tab shows for a write. */
  private def shownOf(stream: String): Map[String, Long] = {
    val plan = planOf(writer(rows(spark.range(Rows.toLong).toDF(), "id"), "streamName" -> stream).save())
    nodes(plan).flatMap(_.metrics).map { case (name, metric) => name -> metric.value }.toMap
  }

  /** The metrics of a progress that are numbers, and the shards that it names. */
  private case class Shown(numbers: Map[String, Double], slowestShards: Option[String]) {
    def apply(name: String): Double = numbers(name)
  }

  /**
   * Runs throttled batches until the progress of one of them shows a time above 0 for the metric, and returns that
   * progress. The number of batches depends on when the writer learns the stream's shards.
   */
  private def progressWith(metric: String, stream: String, set: (String, String)*): Shown = {
    import spark.implicits._
    kinesis.admin.createStream(stream, 1)
    val input = MemoryInput[Int](spark)
    val query = rows(input.toDF(), "value").writeStream.format(format).options(target ++ set + ("streamName" -> stream))
      .option("checkpointLocation", checkpoint()).start()
    Iterator.from(1).map { batches =>
      refuseSome(stream)
      input.addData(0 until Rows)
      query.processAllAvailable()
      val last = query.recentProgress.filter(_.numInputRows > 0).last
      val metrics = last.sink.metrics.asScala.toMap
      val shown = Shown((metrics - "slowestShards").view.mapValues(_.toDouble).toMap, metrics.get("slowestShards"))
      assert(shown("recordsOut") == Rows && kinesis.admin.recordCount(stream) == Rows * batches)
      assert(shown("recordsThrottled") > 0, shown.toString)
      shown
    }.find(_(metric) > 0).get
  }

  test("the progress of a query shows throttled records, and the time that the shard's limit held records back") {
    val shown = progressWith("shardWaitTimeMs", "query")
    assert((shown("pacedShards") == 0) == (shown("lowestShardRate") == 0), shown.toString)
    // A shard keeps its rate for half a minute after it was throttled.
    val rate = s"query/shardId-000000000000: ${shown("lowestShardRate").toLong} records/s"
    assert(shown.slowestShards == Option.when(shown("pacedShards") > 0)(rate), shown.toString)
  }

  test("the progress of a query shows the time that a strategy held requests back") {
    val shown =
      progressWith("rateLimitWaitTimeMs", "strategy", "rateLimiting" -> "batchAndDelay", "shardLimits" -> "false")
    assert(shown("maxBatchSizeNow") >= 1, shown.toString)
  }

  test("the SQL tab shows all metrics after the last record is stored, with the limits in force") {
    kinesis.admin.createStream("table", 1)
    refuseSome("table")
    val shown = shownOf("table")
    KinesisSink.metrics.foreach(metric => assert(shown.contains(metric.name), metric.name))
    assert(shown("maxBatchSizeNow") >= 1 && shown("currentLimit") >= 1, shown.toString)
    assert(shown("recordsOut") == Rows && shown("kinesisRecords") == kinesis.admin.recordCount("table"), shown.toString)
    assert(shown("inFlightRequests") == 0 && shown("recordsBuffered") == 0, shown.toString)
  }

  test("the metrics system shows the time that the limit of a shard held records back") {
    kinesis.admin.createStream("system", 1)
    def waited = MetricsSource.values(KinesisSink.writers.sourceName).collect {
      case (name, value) if name.endsWith(".stream.system.shardWaitTimeMs") => value
    }.sum
    val before = waited
    while (waited <= before) {
      refuseSome("system")
      writer(rows(spark.range(Rows.toLong).toDF(), "id"), "streamName" -> "system").save()
    }
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
