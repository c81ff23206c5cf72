package org.sparkkinesis.integration.realtime

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, Row}

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

/**
 * Queries with state in real-time mode, which Spark has from 4.3 on. Earlier versions must refuse them, so the tests
 * check that there.
 */
class StatefulSuite extends SparkSuite {
  import StatefulSuite._

  // Two tasks read, and two more hold the state at the same time.
  override protected def master: String = "local[4]"

  override protected def settings: Map[String, String] = Map(
    "spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms",
    "spark.sql.shuffle.partitions" -> "2",
    "spark.sql.streaming.stateStore.providerClass" ->
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2"
  )

  private def start(rows: DataFrame, to: Collected, at: String): StreamingQuery =
    rows.writeStream.foreach(to.writer(at)).option("checkpointLocation", at).outputMode("update")
      .trigger(Trigger.RealTime("1 second")).start()

  private def source(stream: String): DataFrame = readStream(stream, "shardsPerTask" -> "1").load()

  /** Runs the test, or checks that this version of Spark refuses the query. */
  private def ifSupported(query: => StreamingQuery)(test: => Unit): Unit =
    if (hasState(spark.version)) test
    else {
      val refusal = intercept[StreamingQueryException](query.awaitTermination())
      assert(refusal.getMessage.contains("STREAMING_REAL_TIME_MODE"), refusal.getMessage)
    }

  test("counts by key are exact over batches that end within aggregates, and over a stop within a batch") {
    kinesis.admin.createStream("counted", 2)
    val (to, at) = (new Collected, checkpoint())
    val slow = udf { (data: Array[Byte]) => LockSupport.parkNanos(RowNanos); data }
    def query = start(
      source("counted").select(col("partitionKey"), slow(col("data")).as("data"))
        .where("length(data) > 0").groupBy("partitionKey").count(),
      to,
      at
    )
    def counts: Map[String, Long] =
      to.rows.groupMapReduce(_.getString(0))(_.getLong(1))(math.max)
    def offsets: Seq[String] = Using.resource(Files.list(Path.of(at, "offsets")))(
      _.iterator.asScala.filterNot(_.getFileName.toString.startsWith(".")).map(Files.readString(_)).toVector
    )
    var put = Map.empty[String, Long].withDefaultValue(0L)
    def putAggregate(): Unit = {
      val key = s"key-${put.valuesIterator.sum / Size % Keys}"
      val container = new Aggregator(1 << 20)
      (0 until Size).foreach(n => assert(container.tryAdd(key, None, utf8(n.toString))))
      kinesis.admin.putRecord("counted", key, container.result())
      put = put.updated(key, put(key) + Size)
    }
    ifSupported(query) {
      val first = query
      await(first, "a batch that ended within an aggregate") {
        if (counts == put) putAggregate()
        first.recentProgress.length > 1 && offsets.exists(_.contains("\"v\":2"))
      }
      putAggregate()
      await(first, "rows of the running batch")(counts.valuesIterator.sum > put.valuesIterator.sum - Size)
      first.stop()
      val second = query
      (0 until Keys).foreach(_ => putAggregate())
      await(second, "the counts")(counts == put)
      val batch = second.lastProgress
      await(second, "a further batch")(second.lastProgress.batchId > Option(batch).fold(-1L)(_.batchId))
      second.stop()
      assert(counts == put)
    }
  }

  test("the versions of Spark that have state in real-time mode") {
    val with43 = Seq("4.3.0", "4.3.1-SNAPSHOT", "4.10.0", "5.0.0", "4.3.0-preview1")
    val before = Seq("4.0.1", "4.1.4", "4.2.0", "3.10.0", "4.2.1-SNAPSHOT")
    assert(with43.filterNot(hasState) == Nil && before.filter(hasState) == Nil)
    Seq("", "4", "4.3", "main", "4.x.0").foreach(text => intercept[IllegalArgumentException](hasState(text)))
  }

  test("duplicates are dropped over several batches and a restart") {
    kinesis.admin.createStream("distinct", 2)
    val (to, at) = (new Collected, checkpoint())
    def query = start(source("distinct").selectExpr("CAST(data AS STRING) AS text").dropDuplicates("text"), to, at)
    def put(numbers: Range): Unit =
      numbers.foreach(n => kinesis.admin.putRecord("distinct", s"key-${n % 7}", utf8(n.toString)): Unit)
    def texts: Vector[Int] = to.rows.map((row: Row) => row.getString(0).toInt).sorted
    ifSupported(query) {
      var running = query
      (0 until 300 by 100).foreach { n =>
        put(n until n + 100)
        put(0 until n + 100)
        await(running, s"${n + 100} texts")(texts.size >= n + 100)
        val batch = Option(running.lastProgress).fold(-1L)(_.batchId)
        await(running, "two further batches")(Option(running.lastProgress).exists(_.batchId >= batch + 2))
        assert(texts == (0 until n + 100))
        running.stop()
        running = query
      }
      running.stop()
    }
  }
}

private object StatefulSuite {

  /** The time that the query takes for a row, so that batches end within aggregates. */
  val RowNanos: Long = TimeUnit.MILLISECONDS.toNanos(5)

  /** The number of user records of an aggregate. */
  val Size = 100
  val Keys = 5

  private val Version = """(\d+)\.(\d+)\.\d+(?:-.+)?""".r

  /** Whether this version of Spark has queries with state in real-time mode. */
  def hasState(version: String): Boolean = version match {
    case Version(major, minor) => major.toInt > 4 || (major.toInt == 4 && minor.toInt >= 3)
    case other => throw new IllegalArgumentException(s"not a version of Spark: $other")
  }
}
