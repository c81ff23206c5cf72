package org.sparkkinesis.integration.realtime

import java.nio.file.{Files, Path}
import java.util.concurrent.{CompletableFuture, ConcurrentHashMap}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.Success
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorMetricsUpdate, SparkListenerTaskEnd}
import org.apache.spark.sql.connector.read.streaming.PartitionOffset
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import org.sparkkinesis.KinesisQueries
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.write.SinkFixture

/**
 * Real-time batches whose tasks have read their last row, but whose sink waits for the end of an outage. The driver
 * knows the positions of such a task, and Spark's heartbeats contain them, before the rows are stored.
 */
class LongFlushSuite extends SinkFixture {
  private val heartbeats = 20
  private val tasks = 2

  override protected def settings: Map[String, String] = Map(
    "spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms",
    "spark.sql.streaming.realTimeMode.allowlistCheck" -> "false",
    "spark.executor.heartbeatInterval" -> "50ms"
  )

  /** Counts the heartbeats with the end positions of each task, and records how such tasks failed. */
  final private class Heartbeats extends SparkListener with AutoCloseable {
    private val byTask = new ConcurrentHashMap[Long, Int]
    private val flushing = ConcurrentHashMap.newKeySet[Long]()
    @volatile var failed = Vector.empty[String]
    spark.sparkContext.addSparkListener(this)

    override def onExecutorMetricsUpdate(update: SparkListenerExecutorMetricsUpdate): Unit =
      for ((task, _, _, values) <- update.accumUpdates; if values.exists(_.update.exists(isEnd))) {
        flushing.add(task)
        byTask.merge(task, 1, _ + _): Unit
      }

    override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
      if (flushing.contains(end.taskInfo.taskId) && end.reason != Success) failed :+= end.reason.toString

    def clear(): Unit = byTask.clear()

    /** Whether a task has sent this number of heartbeats with its positions. */
    def areEnough: Boolean = byTask.values.asScala.exists(_ >= heartbeats)

    override def close(): Unit = spark.sparkContext.removeSparkListener(this)

    private def isEnd(value: Any): Boolean = value match {
      case ends: java.util.Collection[_] => ends.asScala.exists {
          case named: Product => named.productIterator.exists(_.isInstanceOf[PartitionOffset])
          case _ => false
        }
      case _ => false
    }
  }

  /** A query that copies a stream, with two tasks, and what has been put. */
  final private class Copy(name: String) {
    private val (stream, copies) = (name, s"$name-copies")
    val at: Path = Path.of(checkpoint())
    kinesis.admin.createStream(stream, tasks)
    kinesis.admin.createStream(copies, 1)

    def start(every: String = "1 second"): StreamingQuery =
      readStream(stream, "shardsPerTask" -> "1").load().select("partitionKey", "data").writeStream.format("kinesis")
        .options(connection(copies) ++ Map("sendWhenIdle" -> "true", "retry.putRecords.backoff.max" -> "100ms"))
        .option("checkpointLocation", at.toString).option("asyncProgressTrackingEnabled", "false")
        .outputMode("update").trigger(Trigger.RealTime(every)).start()

    def put(numbers: Range): Unit =
      numbers.foreach(n => kinesis.admin.putRecord(stream, s"key-${n % 17}", null, utf8(n.toString)): Unit)

    def written: Seq[Int] = read(copies).map(_._2.toInt).sorted

    /** The batches in one of the logs of the checkpoint. */
    def logged(log: String): Set[Long] = if (Files.isDirectory(at.resolve(log)))
      Using.resource(Files.list(at.resolve(log)))(_.iterator.asScala.flatMap(_.getFileName.toString.toLongOption).toSet)
    else Set.empty

    /** Returns the number of the fault that refuses all writes of copies. */
    def beginOutage(): Int =
      kinesis.faults.add(FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "by request"), "PutRecords", copies))
  }

  /**
   * Waits until a task has read its last row and has waited for its flush during some heartbeats. Returns the batch.
   */
  private def awaitFlush(query: StreamingQuery, copy: Copy, beats: Heartbeats, fault: Int): Long = {
    await(query, "refused writes")(kinesis.faults.hits(fault) > 0)
    beats.clear()
    await(query, s"$heartbeats heartbeats of a task between its last row and its end")(beats.areEnough)
    copy.logged("commits").maxOption.fold(0L)(_ + 1)
  }

  test("positions are committed after the flush, however many heartbeats have sent them before") {
    val copy = new Copy("long")
    Using.resource(new Heartbeats) { beats =>
      val query = copy.start()
      copy.put(0 until 100)
      await(query, "the copies")(copy.written.size == 100)
      val fault = copy.beginOutage()
      copy.put(100 until 200)
      val batch = awaitFlush(query, copy, beats, fault)
      copy.put(200 until 300)
      beats.clear()
      await(query, "more heartbeats of the same batch")(beats.areEnough)
      assert(!copy.logged("offsets")(batch) && !copy.logged("commits")(batch), "the batch waits for its rows")
      assert(copy.written == (0 until 100))
      kinesis.faults.remove(fault)
      await(query, "all copies")(copy.written.size >= 300)
      await(query, "the commit of the batch")(copy.logged("commits")(batch))
      assert(KinesisQueries.stopGracefully(query, 60000))
      assert(beats.failed.isEmpty, beats.failed)
    }
    assert(copy.written == (0 until 300))
  }

  test("a query that is stopped during the flush reads the rows of its batch again") {
    val copy = new Copy("stopped")
    Using.resource(new Heartbeats) { beats =>
      val first = copy.start()
      copy.put(0 until 100)
      await(first, "a commit after the copies")(copy.written.size == 100 && copy.logged("commits").nonEmpty)
      val committed = copy.logged("commits")
      await(first, "a batch after that of the copies")(copy.logged("commits").max > committed.max)
      val fault = copy.beginOutage()
      copy.put(100 until 200)
      val batch = awaitFlush(first, copy, beats, fault)
      first.stop()
      assert(!copy.logged("offsets")(batch) && !copy.logged("commits")(batch), "no position of the batch is stored")
      kinesis.faults.remove(fault)
      val second = copy.start()
      await(second, "the rows of the batch")(copy.written.distinct.size == 200)
      assert(KinesisQueries.stopGracefully(second, 60000))
    }
    // A task that is being killed may still store rows of its batch.
    val repeated = copy.written.diff(0 until 200)
    assert(repeated.distinct == repeated && repeated.forall(_ >= 100), repeated)
  }

  test("a graceful stop waits for the flush, and the next run repeats nothing") {
    val copy = new Copy("graceful")
    Using.resource(new Heartbeats) { beats =>
      val query = copy.start(every = "1 hour")
      copy.put(0 until 100)
      await(query, "the copies")(copy.written.size == 100)
      val fault = copy.beginOutage()
      copy.put(100 until 200)
      await(query, "refused writes")(kinesis.faults.hits(fault) > 0)
      val stopping = CompletableFuture.supplyAsync(() => KinesisQueries.stopGracefully(query, 60000))
      val batch = awaitFlush(query, copy, beats, fault)
      assert(batch == 0 && !copy.logged("offsets")(batch) && !stopping.isDone)
      kinesis.faults.remove(fault)
      assert(stopping.join() && !query.isActive && beats.failed.isEmpty, beats.failed)
      assert(copy.logged("commits")(batch))
      val next = copy.start()
      copy.put(200 until 250)
      await(next, "the further copies")(copy.written.size >= 250)
      assert(KinesisQueries.stopGracefully(next, 60000))
    }
    assert(copy.written == (0 until 250))
  }
}
