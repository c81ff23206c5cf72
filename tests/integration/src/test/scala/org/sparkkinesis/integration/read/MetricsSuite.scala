package org.sparkkinesis.integration.read

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.sparkkinesis.MetricsSource

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._
import org.sparkkinesis.spark.read.reader.ReadMetrics

/** The metrics of a query: of its source in the progress, and of its tasks in the SQL tab. */
class MetricsSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  private val throttled = FaultEffect.Error(400, "ProvisionedThroughputExceededException", "injected")

  /** Returns the source metrics of the progress after the last batch. */
  private def metrics(run: StreamRun): Map[String, String] = {
    run.query.processAllAvailable()
    run.query.recentProgress.filter(_.numInputRows > 0).last.sources.head.metrics.asScala.toMap
  }

  /** Waits for metrics, which a query reports with further records only. */
  private def awaitMetrics(what: String)(condition: Map[String, String] => Boolean) = Await(what) { run =>
    run.put(Seq(0))
    condition(metrics(run))
  }

  test("the progress of a polling query contains lag, shards, fetched records, and calls") {
    testStream("polled", 2)(
      PutRecords(0 until 90),
      PutAggregate(90 until 100),
      StartStream(),
      CheckRows(0 until 100),
      Execute("check the metrics") { run =>
        val found = metrics(run)
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
      },
      Execute("Spark's metrics system and the log have the same figures") { run =>
        val found = metrics(run)
        val retained = 24 * 3600 * 1000L
        assert(found("consumerMode") == "polling" && found("bufferBytes").toLong > 0, found.toString)
        assert(found("pollingSlowdown") == "1.00")
        assert((retained - 600000 to retained).contains(found("expiresInMs").toLong), found.toString)
        val agent = kinesis.calls.userAgent("GetRecords")
        assert(agent.exists(_.contains(s"app/${spark.sparkContext.applicationId} name/")), agent)
        val query = s"query.${run.query.id}"
        // A gauge that is new, and its value, are seen when a sink reads the gauges again.
        run.await("the gauges of the query and its stream") {
          val gauges = MetricsSource.values("kinesis.source")
          Seq[(String, Double => Boolean)](
            s"$query.stream.polled.openShards" -> (_ == 2),
            s"$query.stream.polled.expiresInMs" -> (_ > retained - 600000.0),
            s"$query.rows" -> (_ == 100),
            s"$query.batches" -> (_ >= 1),
            s"$query.bufferBytes" -> (_ == found("bufferBytes").toDouble)
          ).forall { case (name, holds) => gauges.get(name).exists(holds) }
        }
      },
      AddFault(throttled, "GetRecords", count = 2),
      awaitMetrics("throttled and retried calls")(now => now("throttles") == "2" && now("retries").toLong >= 2),
      Execute("the throttled shard and its executor are named") { run =>
        val named = metrics(run)("throttledCalls")
        assert(named.matches("(GetRecords polled shardId-00000000000[01]: [12] \\(executor driver\\)(; )?)+"), named)
      },
      StopStream,
      Execute("a query that has stopped has no gauges") { _ =>
        assert(!MetricsSource.values("kinesis.source").keys.exists(_.contains("stream.polled.")))
      }
    )
  }

  test("the lag of a rate-limited query is that of its oldest unread record, independent of fetching") {
    testStream("held-back", 1, "maxRecordsPerTrigger" -> "20")(
      PutRecords(0 until 200),
      StartStream(),
      CheckRows(0 until 200),
      Execute("check the lag") { run =>
        val last = metrics(run)
        val all = run.query.recentProgress.map(_.sources.head.metrics.asScala.toMap)
        val heldBack = all.filter(now => now.get("records").contains("200") && now("maxFetchedMsBehindLatest") == "0")
        assert(heldBack.init.exists(_("maxMsBehindLatest").toLong > 0), all.mkString("\n"))
        assert(
          heldBack.init.exists(_.get("worstShards").exists(_.startsWith("shardId-000000000000: "))),
          all.mkString("\n")
        )
        assert(last("maxMsBehindLatest") == "0", all.mkString("\n"))
      }
    )
  }

  test("task metrics contain rows by source and service calls") {
    testStream("batch", 2)(PutRecords(0 until 90), PutAggregate(90 until 100))
    kinesis.faults.add(FaultRule(throttled, "GetRecords", "batch", count = 2))
    // Only the tasks call the service.
    val batch = spark.read.format("kinesis").options(connection("batch")).option("shardsPerTask", 1L).load()
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
    testStream("pushed", 2, efo: _*)(
      PutRecords(0 until 100),
      StartStream(),
      CheckRows(0 until 100),
      Execute("each shard has one subscription") { run =>
        val found = metrics(run)
        assert(found("subscribeToShardCalls") == "2")
        assert(found("resubscriptions") == "0")
        assert(found("getRecordsCalls") == "0")
        assert(found("records") == "100")
      },
      AdvanceClock(5.minutes),
      awaitMetrics("both subscriptions are renewed") { now =>
        now("resubscriptions") == "2" && now("subscribeToShardCalls") == "4"
      }
    )
  }
}
