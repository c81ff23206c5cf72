package org.sparkkinesis.integration.read

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected
import org.sparkkinesis.spark.read.reader.ReadMetrics

/** The metrics of a query: of its source in the progress, and of its tasks in the SQL tab. */
class MetricsSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  private val throttled = FaultEffect.Error(400, "ProvisionedThroughputExceededException", "injected")
  private val LongWait = 2.minutes

  private def put(stream: String, count: Int): Unit = (1 to count).foreach(i =>
    kinesis.admin.putRecord(stream, s"key-$i", utf8("text"))
  )

  private def putAggregate(stream: String, count: Int): Unit = {
    val container = new Aggregator(10000)
    (1 to count).foreach(_ => assert(container.tryAdd("key", None, utf8("text"))))
    kinesis.admin.putRecord(stream, "key", container.result())
  }

  private def readTo(rows: Int, stream: String, options: (String, String)*): (StreamingQuery, Map[String, String]) = {
    val collected = new Collected
    val query = readStream(stream, options: _*).load().writeStream
      .option("checkpointLocation", checkpoint()).foreachBatch(collected.sink).start()
    await(query, s"$rows rows", LongWait)(collected.rows.size == rows)
    query -> metrics(query)
  }

  /** Returns the source metrics of the progress after the last batch. */
  private def metrics(query: StreamingQuery): Map[String, String] = {
    query.processAllAvailable()
    query.recentProgress.filter(_.numInputRows > 0).last.sources.head.metrics.asScala.toMap
  }

  test("the progress of a polling query contains lag, shards, fetched records, and calls") {
    kinesis.admin.createStream("polled", 2)
    put("polled", 90)
    putAggregate("polled", 10)
    val (query, found) = readTo(100, "polled")
    assert(found("records") == "91")
    assert(found("rows") == "100")
    assert(found("aggregatedRecords") == "1")
    assert(found("bytes").toLong >= 100 * 4, found.toString)
    assert(found("getRecordsCalls").toLong >= 1, found.toString)
    assert(found("getShardIteratorCalls").toLong >= 1, found.toString)
    Seq("subscribeToShardCalls", "resubscriptions", "throttles", "filteredRows").foreach(name =>
      assert(found(name) == "0", name)
    )
    assert(found("numOpenShards") == "2")
    assert(found("shardsByExecutor") == "driver: 2")
    assert(found("plannedRows").toInt >= 1 && found("plannedBytes").toInt >= 4, found.toString)
    assert(found("planningMicros").toLong > 0, found.toString)
    assert(found("bufferedBytes").toLong >= 0, found.toString)
    val lags = Seq("minMsBehindLatest", "avgMsBehindLatest", "maxMsBehindLatest").map(found(_).toLong)
    assert(lags == lags.sorted)

    kinesis.faults.add(FaultRule(throttled, "GetRecords", "polled", count = 2))
    await(query, "throttled and retried calls", LongWait) {
      put("polled", 1)
      val now = metrics(query)
      now("throttles") == "2" && now("retries").toLong >= 2
    }
  }

  test("the lag of a rate-limited query is that of its oldest unread record, independent of fetching") {
    kinesis.admin.createStream("held-back", 1)
    put("held-back", 200)
    val (query, last) = readTo(200, "held-back", "maxRecordsPerTrigger" -> "20")
    val all = query.recentProgress.map(_.sources.head.metrics.asScala.toMap)
    val heldBack = all.filter(now => now.get("records").contains("200") && now("maxFetchedMsBehindLatest") == "0")
    assert(heldBack.init.exists(_("maxMsBehindLatest").toLong > 0), all.mkString("\n"))
    assert(
      heldBack.init.exists(_.get("worstShards").exists(_.startsWith("shardId-000000000000: "))),
      all.mkString("\n")
    )
    assert(last("maxMsBehindLatest") == "0", all.mkString("\n"))
  }

  test("task metrics contain rows by source and service calls") {
    kinesis.admin.createStream("batch", 2)
    put("batch", 90)
    putAggregate("batch", 10)
    kinesis.faults.add(FaultRule(throttled, "GetRecords", "batch", count = 2))
    val batch = spark.read.format("kinesis").options(connection("batch")).load()
    assert(batch.collect().length == 100)
    val found = batch.queryExecution.executedPlan.collectLeaves().head.metrics.map { case (name, metric) =>
      name -> metric.value
    }
    assert(found("rowsFromService") == 100L)
    assert(found("rowsFromMemory") == 0L)
    assert(found("aggregatedRows") == 10L)
    assert(found("bytesRead") >= 400, found.toString)
    assert(found("getRecordsCalls") >= 2, found.toString)
    assert(found("throttles") == 2L)
    assert(found("retries") == 2L)
    ReadMetrics.all.foreach(metric => assert(found.contains(metric.name()), metric.name()))
  }

  test("the lag of all tasks is their minimum, average and maximum") {
    val shown = ReadMetrics.all.map(metric => metric.name() -> metric.aggregateTaskMetrics(Array(10L, 40L, 100L))).toMap
    assert(shown("minFetchedMsBehindLatest") == "10")
    assert(shown("avgFetchedMsBehindLatest") == "50")
    assert(shown("maxFetchedMsBehindLatest") == "100")
    assert(shown("bytesRead") == "150")
  }

  test("the progress of a fan-out query counts subscriptions and resubscriptions") {
    kinesis.admin.createStream("pushed", 2)
    put("pushed", 100)
    val (query, found) = readTo(100, "pushed", efo: _*)
    assert(found("subscribeToShardCalls") == "2")
    assert(found("resubscriptions") == "0")
    assert(found("getRecordsCalls") == "0")
    assert(found("records") == "100")
    kinesis.admin.clock.advance(5.minutes)
    await(query, "both subscriptions are renewed", LongWait) {
      put("pushed", 1)
      val now = metrics(query)
      now("resubscriptions") == "2" && now("subscribeToShardCalls") == "4"
    }
  }
}
