package org.sparkkinesis.integration.realtime

import java.util.concurrent.Semaphore

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.SparkSuite

/** Outages of the service and slow sinks within the batches of a query in real-time mode. */
class RealTimeFaultSuite extends SparkSuite {
  private val unavailable = FaultEffect.Error(503, "ServiceUnavailable", "by request")

  override protected def settings: Map[String, String] =
    Map("spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms")

  /** Default retry settings with shorter pauses. */
  private val hasty = Seq("getRecords", "getShardIterator", "subscribeToShard").flatMap { operation =>
    Seq(s"retry.$operation.backoff.base" -> "1ms", s"retry.$operation.backoff.max" -> "10ms")
  }

  private def start(stream: String, every: String, options: (String, String)*): (StreamingQuery, LiveRows) = {
    val rows = LiveRows(stream)
    val query = readStream(stream, options: _*).load().writeStream.foreach(rows.writer)
      .option("checkpointLocation", checkpoint()).outputMode("update").trigger(Trigger.RealTime(every)).start()
    (query, rows)
  }

  private def put(stream: String, numbers: Seq[Int]): Unit =
    numbers.foreach(n => kinesis.admin.putRecord(stream, s"key-${n % 7}", null, utf8(n.toString)))

  private def awaitRows(query: StreamingQuery, rows: LiveRows, count: Int): Unit =
    await(query, s"$count rows, of which ${rows.rows.size} are there")(rows.rows.size >= count)

  /** Checks that each number came once, all in the first batch, and the numbers of each key in ascending order. */
  private def checkOneBatch(rows: LiveRows, numbers: Seq[Int]): Unit = {
    assert(rows.numbers.sorted == numbers.toVector)
    assert(rows.rows.map(_.batch).distinct == Vector(0L))
    rows.rows.groupMap(_.key)(_.number).foreach { case (key, seen) => assert(seen == seen.sorted, s"order of $key") }
  }

  test("polling: a batch goes on after an outage that is longer than any number of retries") {
    kinesis.admin.createStream("polled", 2)
    val (query, rows) = start("polled", "1 hour", hasty: _*)
    put("polled", 0 until 50)
    awaitRows(query, rows, 50)
    val fault = kinesis.faults.add(FaultRule(unavailable, "GetRecords", "polled"))
    put("polled", 50 until 100)
    await(query, "refused calls")(kinesis.faults.hits(fault) >= 40)
    kinesis.faults.remove(fault)
    awaitRows(query, rows, 100)
    query.stop()
    checkOneBatch(rows, 0 until 100)
  }

  test("fan-out: a batch goes on after its subscriptions broke and new ones were refused for a while") {
    kinesis.admin.createStream("pushed", 2)
    val broken = kinesis.faults.add(FaultRule(FaultEffect.ResetAfter(5), "SubscribeToShard", "pushed", count = 2))
    val refused = kinesis.faults.add(FaultRule(unavailable, "SubscribeToShard", "pushed"))
    val (query, rows) = start("pushed", "1 hour", hasty ++ Seq("consumerMode" -> "efo", "consumerName" -> "live"): _*)
    var next = 0
    await(query, "refused subscriptions") {
      put("pushed", next until next + 10)
      next += 10
      kinesis.faults.hits(refused) >= 20
    }
    assert(kinesis.faults.hits(broken) == 2)
    kinesis.faults.remove(refused)
    put("pushed", next until next + 10)
    awaitRows(query, rows, next + 10)
    query.stop()
    checkOneBatch(rows, 0 until next + 10)
  }

  test("a slow sink holds back the consumers, and no record is lost or repeated") {
    val (records, size, buffer) = (1500, 10000, 1 << 20)
    kinesis.admin.createStream("slow", 2)
    (0 until records).foreach { n =>
      kinesis.admin.putRecord("slow", s"key-${n % 7}", null, utf8(n.toString.padTo(size, ' ')))
    }
    val (permits, looks) = (new Semaphore(0), Iterator.from(0))
    LiveRows("slow").before(() => permits.acquire())
    val (query, rows) =
      start("slow", "1 second", "fetchBufferSize" -> "1m", "maxRecordsPerFetch" -> "20")
    def metric(name: String): Long =
      Option(query.lastProgress).flatMap(of => of.sources.head.metrics.asScala.get(name)).fold(0L)(_.toLong)
    val held = (1 to 5).map { _ =>
      val batch = Option(query.lastProgress).fold(-1L)(_.batchId)
      await(query, "the next batch") {
        // Each task hands over a row now and then, so that batches end.
        if (looks.next() % 20 == 0) permits.release(2)
        Option(query.lastProgress).exists(_.batchId > batch)
      }
      metric("bufferedBytes")
    }
    assert(metric("records") < records / 2, "the consumers fetched what the sink could not take")
    assert(held.max > 0 && held.max <= buffer + 2 * 20 * size * 3 / 2, held)
    permits.release(10 * records)
    await(query, s"$records rows", 2.minutes)(rows.rows.size >= records)
    query.stop()
    val seen = rows.rows.map(row => row.number -> row.batch)
    // A row of the batch that `stop` ended does not come again, because the query is not started again.
    assert(seen.map(_._1).sorted == (0 until records).toVector)
    rows.rows.groupMap(_.key)(_.number).foreach { case (key, of) => assert(of == of.sorted, s"order of $key") }
  }
}
