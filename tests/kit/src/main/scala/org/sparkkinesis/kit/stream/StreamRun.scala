package org.sparkkinesis.kit.stream

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.concurrent.duration._

import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{Encoders, SparkSession}

import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.emulator.fault.FaultRule
import org.sparkkinesis.kit.process.StandaloneCluster

/**
 * The state of one stream test: a stream, a query on it with one checkpoint, and the rows of the query since its
 * first start. Actions use it in the test's thread.
 */
final class StreamRun private[stream] (
    val spark: SparkSession,
    val kinesis: KinesisEmulator,
    val stream: String,
    val arn: String,
    val checkpoint: String,
    private[stream] val options: Map[String, String],
    private[stream] val writeOptions: Map[String, String],
    private[stream] val cluster: Option[StandaloneCluster]
) {
  private var current: Option[StreamingQuery] = None
  private var faults = Vector.empty[Int]

  val collected = new Collected

  /** The input of a query that writes to the stream. */
  private[stream] lazy val input: MemoryInput[Int] = MemoryInput(spark)(Encoders.scalaInt)

  /** The query that was started last. */
  def query: StreamingQuery = current.getOrElse(throw new IllegalStateException("no query was started"))

  /** Returns the number of calls of each operation on this stream; 0 for operations without calls. */
  def calls: Map[String, Long] = kinesis.calls.snapshot.toSeq
    .filter(_._1.stream == stream)
    .groupMapReduce(_._1.operation)(_._2)(_ + _)
    .withDefaultValue(0L)

  /** Returns the number of calls that a fault has affected, by its position among the added faults. */
  def hits(fault: Int): Int = kinesis.faults.hits(faults(fault))

  /** Returns a metric of the query's first source in its last progress. */
  def metric(name: String): Option[String] =
    Option(query.lastProgress).flatMap(progress => Option(progress.sources.head.metrics.get(name)))

  /** Puts these numbers as text, each under one of [[StreamRun.Keys]] partition keys. */
  def put(numbers: Seq[Int], explicitHashKey: Option[String] = None): Unit = numbers.foreach { n =>
    kinesis.admin.putRecord(stream, StreamRun.partitionKey(n), explicitHashKey.orNull, n.toString.getBytes(UTF_8))
  }

  /** Returns whether the checkpoint contains the query's initial offsets. */
  def hasInitialOffset: Boolean = Files.exists(Path.of(checkpoint, "sources", "0", "initial-offset"))

  /** Waits for a condition of the query or the service. The end of the query ends the wait. */
  def await(what: String, within: FiniteDuration = 2.minutes)(condition: => Boolean): Unit = {
    val deadline = within.fromNow
    while (!condition) {
      current.foreach { query =>
        query.exception.foreach(throw _)
        expect(query.isActive, s"the query ended before $what")
      }
      expect(deadline.hasTimeLeft(), s"not within $within: $what")
      // The emulator's counters of calls and faults have no notification, so check them again.
      collected.awaitBatch(20.millis)
    }
  }

  private[stream] def started(query: StreamingQuery): Unit = current = Some(query)

  private[stream] def addFault(rule: FaultRule): Unit = faults :+= kinesis.faults.add(rule)

  private[stream] def clearFaults(): Unit = faults.foreach(kinesis.faults.remove)

  private[stream] def expect(holds: Boolean, otherwise: => String): Unit =
    if (!holds) throw new AssertionError(otherwise)

  /** Returns the current state of the query and its rows, for the message of a failure. */
  private[stream] def report: String = {
    val rows = s"Rows: ${collected.rows.size} in the batches ${collected.ids.mkString(", ")}"
    val told = current.fold(Seq("Query: none was started")) { query =>
      Seq(s"Query: ${if (query.isActive) "active" else "ended"}, ${query.status.message}") ++
        query.exception.map(failure => s"Its failure: $failure") ++
        Option(query.lastProgress).map(progress => s"Its last progress: ${progress.json}")
    }
    val counted = calls.toSeq.sorted.map { case (operation, count) => s"$operation $count" }
    (told ++ Seq(rows, s"Calls: ${counted.mkString(", ")}")).mkString("\n")
  }
}

object StreamRun {

  /** The number of partition keys that [[PutRecords]] uses. */
  val Keys = 17

  /** Returns the partition key of a number. */
  def partitionKey(number: Int): String = s"key-${number % Keys}"

  def shardId(index: Int): String = f"shardId-$index%012d"
}
