package org.sparkkinesis.integration.other

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{Dataset, Row}

import org.sparkkinesis.conformance.backend.{Backend, ProcessBackend}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.json.Json

/**
 * Reads and writes with the connector on another implementation of the service, which `tests/conformance/backends`
 * starts in a process of its own. It is skipped, with the reason, where that is not installed.
 *
 * @param lacks
 *   what the implementation does not have, with the reason
 * @param isThreadSafe
 *   whether it keeps the records of requests that arrive at the same time
 */
abstract class OtherServiceSuite(
    name: String,
    lacks: Map[OtherServiceSuite.Need, String] = Map.empty,
    isThreadSafe: Boolean = true
) extends SparkSuite {
  import OtherServiceSuite._

  override protected def timeLimit: FiniteDuration = 2.minutes

  private lazy val backend: Either[String, Backend] = ProcessBackend.start(name)
  private lazy val endpoint: String = backend.toOption.flatMap(_.endpoint).get.toString
  private lazy val calls = new JsonCalls(endpoint)

  override def afterAll(): Unit = {
    // Without a backend there is no session to stop, and accessing it would start one.
    if (backend.isRight) super.afterAll()
    backend.foreach(_.close())
  }

  override protected def writeOptions(stream: String): Map[String, String] =
    connection(stream) ++ Option.when(!isThreadSafe)("maxInFlightRequests" -> "1")

  override protected def connection(stream: String): Map[String, String] = super.connection(stream) +
    ("endpoint" -> endpoint)

  private def testWith(what: String, needs: Need*)(body: String => Unit): Unit = test(s"$name: $what") {
    assume(backend.isRight, backend.left.getOrElse(""))
    needs.flatMap(lacks.get).foreach(reason => assume(false, reason))
    val stream = s"other-${UUID.randomUUID()}"
    calls.createStream(stream, 2)
    body(stream)
  }

  private def write(stream: String, from: Int, until: Int, options: (String, String)*): Unit =
    spark.range(from.toLong, until.toLong, 1, if (isThreadSafe) 2 else 1)
      .selectExpr("CAST(id % 17 AS STRING) AS partitionKey", "CAST(id AS STRING) AS data")
      .write.format("kinesis").options(writeOptions(stream) ++ options).mode("append").save()

  private def numbers(rows: Dataset[Row]): Seq[Int] =
    rows.selectExpr("CAST(CAST(data AS STRING) AS INT)").collect().map(_.getInt(0)).toSeq.sorted

  private def drain(stream: String, place: String, options: (String, String)*): Seq[Int] = {
    val found = ConcurrentHashMap.newKeySet[(Long, Int)]
    val query = readStream(stream, options: _*).load().writeStream
      .option("checkpointLocation", place)
      .trigger(Trigger.AvailableNow)
      .foreachBatch { (batch: Dataset[Row], id: Long) =>
        numbers(batch).foreach(number => assert(found.add(id -> number), number))
      }
      .start()
    query.awaitTermination()
    found.asScala.toSeq.map(_._2).sorted
  }

  testWith("rows that a batch writes are read once") { stream =>
    write(stream, 0, 700)
    assert(drain(stream, checkpoint()) == (0 until 700))
  }

  testWith("a query continues after a restart where it was", Restart) { stream =>
    val place = checkpoint()
    write(stream, 0, 700)
    assert(drain(stream, place) == (0 until 700))
    write(stream, 700, 1000)
    assert(drain(stream, place) == (700 until 1000))
  }

  testWith("a batch read has all rows") { stream =>
    write(stream, 0, 500)
    assert(numbers(spark.read.format("kinesis").options(readOptions(stream)).load()) == (0 until 500))
  }

  testWith("aggregated rows are read as rows") { stream =>
    write(stream, 0, 500, "aggregation" -> "true")
    assert(drain(stream, checkpoint()) == (0 until 500))
  }

  testWith("records before and after a split are read once", Restart, Split) { stream =>
    val place = checkpoint()
    write(stream, 0, 300)
    assert(drain(stream, place) == (0 until 300))
    calls.call(
      "SplitShard",
      "StreamName" -> Json.Str(stream),
      "ShardToSplit" -> Json.Str("shardId-000000000000"),
      "NewStartingHashKey" -> Json.Str("85070591730234615865843651857942052863")
    )
    calls.awaitActive(stream)
    write(stream, 300, 600)
    assert(drain(stream, place) == (300 until 600))
  }

  testWith("a streaming query writes what another one reads") { stream =>
    val copy = s"$stream-copy"
    calls.createStream(copy, 1)
    write(stream, 0, 300)
    val query = readStream(stream).load().select("partitionKey", "data").writeStream.format("kinesis")
      .options(writeOptions(copy)).option("checkpointLocation", checkpoint()).trigger(Trigger.AvailableNow).start()
    query.awaitTermination()
    assert(drain(copy, checkpoint()) == (0 until 300))
  }

  testWith("fan-out reads each row once", FanOut) { stream =>
    write(stream, 0, 300)
    assert(drain(stream, checkpoint(), "consumerMode" -> "efo", "consumerName" -> "other") == (0 until 300))
  }
}

object OtherServiceSuite {

  /** What a test needs beside reading by polling and writing. */
  sealed trait Need
  case object Restart extends Need
  case object Split extends Need
  case object FanOut extends Need
}

class KinesisLocalSuite extends OtherServiceSuite("kinesis-local")

/** In CBOR, its times are in seconds, where those of the service are in milliseconds, so this suite uses JSON. */
class MinistackSuite
    extends OtherServiceSuite(
      "ministack",
      Map(
        OtherServiceSuite.Restart -> "ministack's sequence numbers begin with zeros, which the API does not permit",
        OtherServiceSuite.Split -> "ministack removes the parents of a split at once"
      )
    ) {
  private val property = "aws.cborEnabled"

  override def beforeAll(): Unit = {
    System.setProperty(property, "false")
    ()
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally {
      System.clearProperty(property)
      ()
    }
}

/** It supports only JSON, which the connector finds out. */
class MotoSuite
    extends OtherServiceSuite(
      "moto",
      Map(
        OtherServiceSuite.FanOut -> "moto has no SubscribeToShard",
        OtherServiceSuite.Split -> "moto gives neither an end nor children of a closed shard"
      ),
      isThreadSafe = false
    )
