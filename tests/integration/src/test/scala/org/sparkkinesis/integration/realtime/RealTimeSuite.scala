package org.sparkkinesis.integration.realtime

import java.nio.file.{Files, Path}
import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sparkkinesis.MetricsSource
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import org.sparkkinesis.KinesisQueries
import org.sparkkinesis.event.{BatchEndedEarly, ChildrenBegun}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.integration.log.RecordedLog
import org.sparkkinesis.kit.stream._
import org.sparkkinesis.model.ShardId

/** Queries in Spark's real-time mode. Batches take one second, so that the tests cross many of their borders. */
class RealTimeSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "live")
  private val realTime: Trigger = Trigger.RealTime("1 second")

  override protected def settings: Map[String, String] = Map(
    "spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms",
    "spark.sql.shuffle.partitions" -> "1",
    // From Spark 4.3 on, real-time mode refuses checkpoints of micro-batches with another format.
    "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2"
  )

  private def stop(run: StreamRun): Unit = {
    assert(KinesisQueries.stopGracefully(run.query, 60000))
    assert(!run.query.isActive && run.query.exception.isEmpty)
  }
  private val stopGracefully = Execute("stop gracefully")(stop)

  private def numbersByBatch(run: StreamRun): Vector[Vector[Int]] = run.collected.byBatch.map(_.map(Collected.number))

  Seq("polling" -> Nil, "fan-out" -> efo).foreach { case (mode, options) =>
    test(s"$mode: every record arrives once, over several batches, also records of aggregates") {
      val rounds = (0 until 1000 by 200).flatMap { n =>
        Seq(PutRecords(n until n + 150), PutAggregate(n + 150 until n + 200), AwaitRows(n + 200), AwaitBatches(1))
      }
      val first = (StartForeach(realTime) +: rounds) ++ Seq(
        StopStream,
        CheckRowsNow(0 until 1000),
        Execute("the records came in several batches")(run => assert(run.collected.ids.size >= 4))
      )
      val second = Seq(
        StartForeach(realTime),
        PutRecords(1000 until 1100),
        Await("all numbers")(_.collected.numbers.distinct == (0 until 1100)),
        StopStream,
        Execute("only the batch that the first stop ended came again") { run =>
          val repeated = run.collected.numbers.diff(0 until 1100).toSet
          assert(numbersByBatch(run).count(_.exists(repeated)) <= 1, repeated)
        }
      )
      testStream(s"exact-$mode", 3, options: _*)(first ++ second: _*)
    }

    test(s"$mode: a split and a merge within a batch are followed at once and keep the order of each key") {
      testStream(s"reshard-$mode", 2, options :+ "shardsPerTask" -> "10": _*)(
        StartForeach(),
        PutRecords(0 until 100),
        AwaitRows(100),
        Split(0),
        PutRecords(100 until 200),
        AwaitRows(200),
        Merge(3, 1),
        PutRecords(200 until 300),
        AwaitRows(300),
        Execute("one batch returned the records of parents and children") { run =>
          assert(run.collected.ids == Vector(0L))
          assert(run.collected.rows.map(_.getAs[String]("shardId")).distinct.size == 5)
        },
        Execute("stop gracefully, which logs the children that the batch began") { run =>
          Using.resource(new RecordedLog()) { log =>
            stop(run)
            assert(log.visible.map(_.message).contains(ChildrenBegun(3).message), log.visible)
          }
        },
        PutRecords(300 until 400),
        StartForeach(realTime),
        AwaitRows(400),
        StopStream,
        CheckRowsNow(0 until 400),
        CheckStrictKeyOrder
      )
    }
  }

  test("a merge of shards of two tasks ends the batch early, and the next one reads the child in order") {
    Using.resource(new RecordedLog()) { log =>
      testStream("merge", 2, "shardsPerTask" -> "1")(
        StartForeach(),
        PutRecords(0 until 100),
        AwaitRows(100),
        Merge(0, 1),
        PutRecords(100 until 200),
        AwaitRows(200),
        Execute("the log reports the early end") { _ =>
          val early = log.visible.filter(_.message == BatchEndedEarly("merge", ShardId.ofIndex(0)).message)
          assert(early.nonEmpty && early.forall(_.context("stream_name").endsWith("merge")), log.visible)
        },
        StopStream,
        Execute("the second batch returned the later records") { run =>
          assert(run.collected.ids == Vector(0L, 1L))
          assert(numbersByBatch(run).map(_.sorted) == Vector(0 until 100, 100 until 200))
        },
        CheckStrictKeyOrder
      )
    }
  }

  test("a graceful stop commits the running batch, so that the next run repeats nothing") {
    val rounds = (0 until 300 by 100).flatMap { n =>
      Seq(StartForeach(), PutRecords(n until n + 100), AwaitRows(n + 100), stopGracefully)
    }
    testStream("graceful", 2)(rounds ++ Seq(CheckRowsNow(0 until 300), CheckStrictKeyOrder): _*)
  }

  test("a batch that ends within an aggregate is continued after the last user record") {
    val (arrived, release) = (new CountDownLatch(1), new CountDownLatch(1))
    val block = (number: Int) =>
      if (number == 40) {
        arrived.countDown()
        release.await()
      }
    testStream("cut", 1)(
      StartForeach(realTime, afterRow = block),
      PutAggregate(0 until 100),
      Await("record 40")(_ => arrived.getCount == 0),
      Execute("the batch's time ends while the task hands over a record of the aggregate") { run =>
        val end = 2.seconds.fromNow
        run.await("the end of the batch's time")(end.isOverdue())
        release.countDown()
      },
      AwaitRows(100),
      AwaitBatches(1),
      StopStream,
      CheckRowsNow(0 until 100),
      CheckStrictKeyOrder,
      Execute("a later batch returned the rest, from a position within the aggregate") { run =>
        val batches = numbersByBatch(run)
        assert(batches.indexWhere(_.exists(_ > 40)) > batches.indexWhere(_.contains(40)), batches)
        assert(offsets(run.checkpoint).exists(_.contains("\"v\":2")))
      },
      StartForeach(Trigger.AvailableNow()),
      AwaitEnd,
      CheckRowsNow(0 until 100)
    )
  }

  private def offsets(checkpoint: String): Seq[String] = {
    val files = Files.list(Path.of(checkpoint, "offsets"))
    try files.iterator.asScala.filterNot(_.getFileName.toString.startsWith(".")).map(Files.readString(_)).toVector
    finally files.close()
  }

  test("a query changes between micro-batches and real-time mode with one checkpoint") {
    val rounds = (0 until 600 by 200).flatMap { n =>
      Seq(
        PutRecords(n until n + 100),
        StartForeach(Trigger.AvailableNow()),
        AwaitEnd,
        CheckRowsNow(0 until n + 100),
        StartForeach(realTime),
        PutRecords(n + 100 until n + 200),
        AwaitRows(n + 200),
        // The query is stopped just after a batch; what the next one hands over by then would come again.
        AwaitBatches(2)
      ) ++ Option.when(n == 200)(Split(1)) ++ Seq(AwaitBatches(1), StopStream)
    }
    testStream("modes", 2)(
      rounds ++ Seq(
        StartForeach(Trigger.AvailableNow()),
        AwaitEnd,
        CheckRowsNow(0 until 600),
        CheckStrictKeyOrder
      ): _*
    )
  }

  private def refusal(option: (String, String), condition: String, parts: String*): Seq[StreamAction] = Seq(
    StartForeach(realTime, Map(option)),
    ExpectFailure(condition),
    Execute(s"the message contains ${parts.mkString(", ")}") { run =>
      val message = run.query.exception.fold("")(_.getMessage)
      parts.foreach(part => assert(message.contains(part), message))
    }
  )

  test("limits, and more tasks than there are slots, are refused with the fix") {
    val limits = Seq("maxRecordsPerTrigger", "maxBytesPerTrigger", "minRecordsPerTrigger").map(_ -> "1000")
    val unsupported = (limits :+ "alignShards" -> "1m").flatMap { option =>
      refusal(option, "KINESIS_REAL_TIME_UNSUPPORTED", option._1)
    }
    val slots = "needs 4 task slots for 4 shards, and 2 are available"
    testStream("refused", 4)(unsupported ++ refusal("shardsPerTask" -> "1", "KINESIS_REAL_TIME_SLOTS", slots): _*)
  }

  test("the connector's sink sends the rows while the batch runs") {
    kinesis.admin.createStream("copied", 1)
    spark.conf.set("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
    var copy = Option.empty[StreamingQuery]
    val rounds = (0 until 100 by 20).flatMap { n =>
      val put = Execute(s"put 20 records from $n into the copied stream") { _ =>
        (n until n + 20).foreach(i =>
          kinesis.admin.putRecord("copied", StreamRun.partitionKey(i), null, utf8(i.toString))
        )
      }
      Seq(put, AwaitRows(n + 20))
    }
    try testStream("copies", 1)(
        Seq(
          Execute("start the copy")(run => copy = Some(startCopy("copied", run.stream))),
          StartForeach(realTime)
        ) ++ rounds ++ Seq(
          Execute("the first batch of the copy still runs") { _ =>
            assert(copy.exists(query => query.isActive && Option(query.lastProgress).forall(_.batchId < 0)))
          },
          StopStream,
          // Without the option `ordering`, a request may overtake another one.
          CheckRowsNow(0 until 100)
        ): _*
      )
    finally {
      copy.foreach(_.stop())
      spark.conf.unset("spark.sql.streaming.realTimeMode.allowlistCheck")
    }
  }

  private def startCopy(from: String, to: String): StreamingQuery =
    readStream(from, efo: _*).load().select("partitionKey", "data").writeStream.format("kinesis")
      .options(connection(to) ++ Map("sendWhenIdle" -> "true", "asyncProgressTrackingEnabled" -> "false"))
      .option("checkpointLocation", checkpoint()).outputMode("update").trigger(StartForeach.LongBatch).start()

  test("the progress has the times from arrival to hand-over, and the rows of the batch") {
    // The end of a batch may be between two of the records.
    def batches(run: StreamRun) =
      run.query.recentProgress.map(_.sources.head.metrics.asScala).filter(_.get("realTimeRows").exists(_ != "0"))
    testStream("progress", 1, efo: _*)(
      StartForeach(realTime),
      PutRecords(0 until 50),
      AwaitRows(50),
      Await("the progress of 50 rows")(run => batches(run).map(_("realTimeRows").toInt).sum == 50),
      Execute("Spark's metrics system has the stream of the query") { run =>
        run.await("the gauges of the query and its stream") {
          val gauges = MetricsSource.values("kinesis.source")
          gauges.get(s"query.${run.query.id}.stream.progress.openShards").contains(1.0) &&
          gauges.get(s"query.${run.query.id}.rows").contains(50.0)
        }
      },
      StopStream,
      Execute("each batch with rows has its times, the open shards and the state of the consumers") { run =>
        val all = run.query.recentProgress.map(_.json).mkString
        assert(batches(run).forall(_.contains("p99ArrivalToReadMs")), all)
        assert(batches(run).forall(_.get("consumerMode").contains("efo, real time")), all)
        assert(batches(run).forall(one => one("numOpenShards") == "1" && one("bufferBytes").toLong > 0), all)
      }
    )
  }
}
