package org.sparkkinesis.integration.realtime

import java.nio.file.{Files, Path}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import org.sparkkinesis.KinesisQueries
import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.event.{BatchEndedEarly, ChildrenBegun}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.integration.log.RecordedLog
import org.sparkkinesis.model.ShardId

/** Queries in Spark's real-time mode. Batches take one second, so that the tests cross many of their borders. */
class RealTimeSuite extends SparkSuite {
  private val Keys = 7
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "live")
  private val realTime: Trigger = Trigger.RealTime("1 second")

  override protected def settings: Map[String, String] = Map(
    "spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms",
    "spark.sql.shuffle.partitions" -> "1"
  )

  private def put(stream: String, numbers: Seq[Int]): Unit =
    numbers.foreach(n => kinesis.admin.putRecord(stream, s"key-${n % Keys}", null, utf8(n.toString)))

  private def putAggregate(stream: String, numbers: Seq[Int]): Unit = {
    val container = new Aggregator(100000)
    numbers.foreach(n => assert(container.tryAdd("key-0", None, utf8(n.toString))))
    kinesis.admin.putRecord(stream, "key-0", container.result())
  }

  private def start(
      stream: String,
      rows: LiveRows,
      at: String,
      trigger: Trigger = realTime,
      options: Seq[(String, String)] = Nil
  ): StreamingQuery = readStream(stream, options: _*).load().writeStream
    .foreach(rows.writer).option("checkpointLocation", at).outputMode("update").trigger(trigger).start()

  private def awaitRows(query: StreamingQuery, rows: LiveRows, count: Int): Unit =
    await(query, s"$count rows, of which ${rows.rows.size} are there")(rows.rows.size >= count)

  private def awaitBatches(query: StreamingQuery, count: Int): Unit = {
    val first = Option(query.lastProgress).fold(-1L)(_.batchId)
    await(query, s"$count more batches")(Option(query.lastProgress).exists(_.batchId >= first + count))
  }

  /** Checks that each number came once, and the numbers of each key in ascending order. */
  private def check(rows: LiveRows, numbers: Seq[Int]): Unit = {
    assert(rows.numbers.sorted == numbers.sorted.toVector)
    rows.rows.groupMap(_.key)(_.number).foreach { case (key, seen) => assert(seen == seen.sorted, s"order of $key") }
  }

  Seq("polling" -> Nil, "fan-out" -> efo).foreach { case (mode, options) =>
    test(s"$mode: every record arrives once, over several batches, also records of aggregates") {
      val stream = s"exact-$mode"
      kinesis.admin.createStream(stream, 3)
      val (rows, at) = (LiveRows(stream), checkpoint())
      val query = start(stream, rows, at, options = options)
      (0 until 5).foreach { round =>
        put(stream, round * 200 until round * 200 + 150)
        putAggregate(stream, round * 200 + 150 until round * 200 + 200)
        awaitRows(query, rows, (round + 1) * 200)
        awaitBatches(query, 1)
      }
      query.stop()
      assert(rows.numbers.sorted == (0 until 1000).toVector)
      assert(rows.rows.map(_.batch).distinct.size >= 4, "the records came in several batches")
      val restarted = start(stream, rows, at, options = options)
      put(stream, 1000 until 1100)
      awaitRows(restarted, rows, 1100)
      restarted.stop()
      assert(rows.numbers.distinct.sorted == (0 until 1100).toVector)
      val again = rows.numbers.diff(0 until 1100)
      val running = rows.rows.map(_.batch).max
      assert(again.forall(_ >= 0) && again.size <= 1000, s"repeated: $again, up to batch $running")
    }

    test(s"$mode: a split and a merge within a batch are followed at once and keep the order of each key") {
      val stream = s"reshard-$mode"
      kinesis.admin.createStream(stream, 2)
      val (rows, at) = (LiveRows(stream), checkpoint())
      val oneTask = options :+ "shardsPerTask" -> "10"
      // The batch would end long after the test.
      val query = start(stream, rows, at, Trigger.RealTime("1 hour"), oneTask)
      put(stream, 0 until 100)
      awaitRows(query, rows, 100)
      kinesis.admin.splitShard(stream, "shardId-000000000000")
      put(stream, 100 until 200)
      awaitRows(query, rows, 200)
      kinesis.admin.mergeShards(stream, "shardId-000000000003", "shardId-000000000001")
      put(stream, 200 until 300)
      awaitRows(query, rows, 300)
      assert(rows.rows.map(_.batch).distinct == Vector(0L), "all rows came in one batch")
      assert(rows.rows.map(_.shard).distinct.size == 5, "the children were read")
      Using.resource(new RecordedLog()) { log =>
        assert(KinesisQueries.stopGracefully(query, 60000))
        assert(log.visible.map(_.message).contains(ChildrenBegun(3).message), log.visible)
      }
      put(stream, 300 until 400)
      val next = start(stream, rows, at, options = oneTask)
      awaitRows(next, rows, 400)
      next.stop()
      check(rows, 0 until 400)
    }
  }

  test("a merge of shards of two tasks ends the batch early, and the next one reads the child in order") {
    kinesis.admin.createStream("merge", 2)
    val (rows, at) = (LiveRows("merge"), checkpoint())
    // The batch would end long after the test.
    val query = start("merge", rows, at, Trigger.RealTime("1 hour"), Seq("shardsPerTask" -> "1"))
    put("merge", 0 until 100)
    awaitRows(query, rows, 100)
    Using.resource(new RecordedLog()) { log =>
      kinesis.admin.mergeShards("merge", "shardId-000000000000", "shardId-000000000001")
      put("merge", 100 until 200)
      awaitRows(query, rows, 200)
      val early = log.visible.filter(_.message == BatchEndedEarly("merge", ShardId.ofIndex(0)).message)
      assert(early.nonEmpty && early.forall(_.context("stream_name").endsWith("merge")), log.visible)
    }
    query.stop()
    assert(rows.rows.filter(_.number >= 100).map(_.batch).distinct == Vector(1L))
    check(rows, 0 until 200)
  }

  test("a graceful stop commits the running batch, so that the next run repeats nothing") {
    kinesis.admin.createStream("graceful", 2)
    val (rows, at) = (LiveRows("graceful"), checkpoint())
    (0 until 3).foreach { round =>
      val query = start("graceful", rows, at, Trigger.RealTime("1 hour"))
      put("graceful", round * 100 until (round + 1) * 100)
      awaitRows(query, rows, (round + 1) * 100)
      assert(KinesisQueries.stopGracefully(query, 60000))
      assert(!query.isActive && query.exception.isEmpty)
    }
    check(rows, 0 until 300)
  }

  test("a batch that ends within an aggregate is continued after the last user record") {
    kinesis.admin.createStream("cut", 1)
    val (rows, at) = (LiveRows("cut"), checkpoint())
    val (arrived, release) = rows.blockAt(40)
    val query = start("cut", rows, at)
    putAggregate("cut", 0 until 100)
    arrived.await()
    // The batch ends by the clock while the task hands over a record of the aggregate.
    val end = 2.seconds.fromNow
    await(query, "the end of the batch's time")(end.isOverdue())
    release.countDown()
    awaitRows(query, rows, 100)
    awaitBatches(query, 1)
    query.stop()
    check(rows, 0 until 100)
    assert(rows.rows.filter(_.number > 40).map(_.batch).min > rows.rows.find(_.number == 40).get.batch)
    assert(offsets(at).exists(_.contains("\"v\":2")), "the offset log has a position within the aggregate")
    val micro = start("cut", rows, at, Trigger.AvailableNow())
    micro.awaitTermination()
    check(rows, 0 until 100)
  }

  private def offsets(checkpoint: String): Seq[String] = {
    val files = Files.list(Path.of(checkpoint, "offsets"))
    try files.iterator.asScala.filterNot(_.getFileName.toString.startsWith(".")).map(Files.readString(_)).toVector
    finally files.close()
  }

  test("a query changes between micro-batches and real-time mode with one checkpoint") {
    kinesis.admin.createStream("modes", 2)
    val (rows, at) = (LiveRows("modes"), checkpoint())
    var next = 0
    def more(count: Int): Unit = {
      put("modes", next until next + count)
      next += count
    }
    (0 until 3).foreach { round =>
      more(100)
      start("modes", rows, at, Trigger.AvailableNow()).awaitTermination()
      assert(rows.rows.size == next)
      val query = start("modes", rows, at)
      more(100)
      awaitRows(query, rows, next)
      // The query is stopped just after a batch; what the next one hands over by then would come again.
      awaitBatches(query, 2)
      if (round == 1) kinesis.admin.splitShard("modes", "shardId-000000000001")
      awaitBatches(query, 1)
      query.stop()
    }
    start("modes", rows, at, Trigger.AvailableNow()).awaitTermination()
    check(rows, 0 until next)
  }

  private def failure(options: (String, String)*): String = {
    val query = start("refused", LiveRows("refused"), checkpoint(), options = options)
    intercept[StreamingQueryException](query.awaitTermination()).getMessage
  }

  test("limits, and more tasks than there are slots, are refused with the fix") {
    kinesis.admin.createStream("refused", 4)
    Seq("maxRecordsPerTrigger", "maxBytesPerTrigger", "minRecordsPerTrigger").foreach { option =>
      val message = failure(option -> "1000")
      assert(message.contains("KINESIS_REAL_TIME_UNSUPPORTED") && message.contains(option), message)
    }
    val aligned = failure("alignShards" -> "1m")
    assert(aligned.contains("KINESIS_REAL_TIME_UNSUPPORTED") && aligned.contains("alignShards"), aligned)
    val message = failure("shardsPerTask" -> "1")
    assert(message.contains("KINESIS_REAL_TIME_SLOTS"), message)
    assert(message.contains("needs 4 task slots for 4 shards, and 2 are available"), message)
  }

  test("the connector's sink sends the rows while the batch runs") {
    Seq("copied", "copies").foreach(kinesis.admin.createStream(_, 1))
    spark.conf.set("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
    try {
      val query = readStream("copied", efo: _*).load().select("partitionKey", "data").writeStream.format("kinesis")
        .options(connection("copies") ++ Map("sendWhenIdle" -> "true", "asyncProgressTrackingEnabled" -> "false"))
        .option("checkpointLocation", checkpoint()).outputMode("update").trigger(Trigger.RealTime("1 hour")).start()
      val rows = LiveRows("copies")
      val second = start("copies", rows, checkpoint())
      (0 until 5).foreach { round =>
        put("copied", round * 20 until (round + 1) * 20)
        awaitRows(second, rows, (round + 1) * 20)
      }
      assert(Option(query.lastProgress).forall(_.batchId < 0), "the first batch still runs")
      query.stop()
      second.stop()
      // Without the option `ordering`, a request may overtake another one.
      assert(rows.numbers.sorted == (0 until 100).toVector)
    } finally spark.conf.unset("spark.sql.streaming.realTimeMode.allowlistCheck")
  }

  test("the progress has the times from arrival to hand-over, and the rows of the batch") {
    kinesis.admin.createStream("progress", 1)
    val rows = LiveRows("progress")
    val query = start("progress", rows, checkpoint(), options = efo)
    put("progress", 0 until 50)
    awaitRows(query, rows, 50)
    // The end of a batch may be between two of the records.
    def batches =
      query.recentProgress.map(_.sources.head.metrics.asScala).filter(_.get("realTimeRows").exists(_ != "0"))
    await(query, "the progress of 50 rows")(batches.map(_("realTimeRows").toInt).sum == 50)
    query.stop()
    assert(batches.forall(_.contains("p99ArrivalToReadMs")), query.recentProgress.map(_.json).mkString("\n"))
  }
}
