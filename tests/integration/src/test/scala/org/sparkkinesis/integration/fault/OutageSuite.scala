package org.sparkkinesis.integration.fault

import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.integration.read.Collected

/** What passes never ends a query; what does not pass ends it with a condition. */
class OutageSuite extends SparkSuite {
  private val unavailable = FaultEffect.Error(503, "ServiceUnavailable", "by request")
  private val denied = FaultEffect.Error(400, "AccessDeniedException", "by request")

  /** The settings of retries are the defaults, only the pauses are short. */
  private val hasty = Seq("getRecords", "getShardIterator", "listShards", "subscribeToShard").flatMap { operation =>
    Seq(s"retry.$operation.backoff.base" -> "1ms", s"retry.$operation.backoff.max" -> "10ms")
  }
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  private def put(stream: String, numbers: Range): Unit =
    numbers.foreach(i => kinesis.admin.putRecord(stream, s"key-$i", utf8(i.toString)))

  private def start(stream: String, collected: Collected, options: (String, String)*): StreamingQuery =
    readStream(stream, options: _*).load().writeStream
      .option("checkpointLocation", checkpoint()).foreachBatch(collected.sink).start()

  private def faulty(stream: String, operation: String, effect: FaultEffect): Int =
    kinesis.faults.add(FaultRule(effect, operation, stream = stream))

  test("polling goes on after an outage of everything, longer than any number of retries, and of discovery") {
    kinesis.admin.createStream("polled", 1)
    put("polled", 0 until 50)
    val collected = new Collected
    val query = start("polled", collected, hasty :+ ("shardFetchInterval" -> "1s"): _*)
    await(query, "50 rows")(collected.rows.size >= 50)
    val faults = Seq("ListShards", "GetShardIterator", "GetRecords").map(faulty("polled", _, unavailable))
    kinesis.admin.splitShard("polled", "shardId-000000000000")
    put("polled", 50 until 100)
    await(query, "failures of discovery and of polls") {
      kinesis.faults.hits(faults.head) >= 20 && kinesis.faults.hits(faults.last) >= 20
    }
    assert(collected.rows.size == 50)
    faults.foreach(kinesis.faults.remove)
    await(query, "100 rows")(collected.rows.size >= 100)
    assert(collected.texts.map(_.toInt).sorted == (0 until 100).toVector)
  }

  test("fan-out begins after an outage of its first subscribe that is longer than five retries") {
    kinesis.admin.createStream("pushed", 1)
    put("pushed", 0 until 50)
    val fault = faulty("pushed", "SubscribeToShard", unavailable)
    val collected = new Collected
    val query = start("pushed", collected, efo ++ hasty: _*)
    await(query, "failures")(kinesis.faults.hits(fault) >= 7)
    kinesis.faults.remove(fault)
    await(query, "50 rows")(collected.rows.size >= 50)
    assert(collected.texts.map(_.toInt).sorted == (0 until 50).toVector)
  }

  private def conditionOf(stream: String, options: (String, String)*)(harm: => Any): String = {
    kinesis.admin.createStream(stream, 1)
    put(stream, 0 until 10)
    val collected = new Collected
    val query = start(stream, collected, hasty ++ options: _*)
    await(query, "10 rows")(collected.rows.size >= 10)
    harm
    val ended = intercept[Exception](query.awaitTermination(60000))
    Iterator.iterate[Throwable](ended)(_.getCause).takeWhile(_ != null).collectFirst {
      case found: KinesisConnectorException => found.condition
    }.getOrElse(fail(s"no condition in $ended", ended))
  }

  test("a refusal of the credentials ends a polling query") {
    assert(conditionOf("denied")(faulty("denied", "GetRecords", denied)) == "KINESIS_ACCESS_DENIED")
  }

  test("a refusal of a listing ends the query") {
    val condition =
      conditionOf("unlisted", "shardFetchInterval" -> "1s")(faulty("unlisted", "ListShards", denied))
    assert(condition == "KINESIS_ACCESS_DENIED")
  }

  test("a stream that is deleted ends the query") {
    assert(conditionOf("deleted")(kinesis.admin.deleteStream("deleted")) == "KINESIS_STREAM_NOT_FOUND")
  }

  test("as many retries as the user allows, and no more") {
    var fault = 0
    val condition = conditionOf("limited", "retry.getRecords.maxRetries" -> "2") {
      fault = faulty("limited", "GetRecords", unavailable)
    }
    assert(condition == "KINESIS_SERVICE_FAILED")
    assert(kinesis.faults.hits(fault) == 3)
  }

  test("a failure that the user calls recoverable ends nothing") {
    kinesis.admin.createStream("tolerant", 1)
    put("tolerant", 0 until 50)
    val fault = kinesis.faults.add(FaultRule(denied, "GetRecords", stream = "tolerant", count = 5))
    val collected = new Collected
    val query = start("tolerant", collected, hasty :+ ("retry.recoverableErrors" -> "AccessDeniedException"): _*)
    await(query, "50 rows")(collected.rows.size >= 50)
    assert(kinesis.faults.hits(fault) == 5)
  }
}
