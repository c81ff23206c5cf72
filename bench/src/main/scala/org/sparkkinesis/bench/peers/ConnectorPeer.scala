package org.sparkkinesis.bench.peers

import scala.annotation.unused

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions._

import org.sparkkinesis.bench.peer.{Peer, PeerServer}
import org.sparkkinesis.bench.source.QueryLoop
import org.sparkkinesis.bench.{Checkpoints, Tally}

/** This connector: a query into `noop` with all columns (`polling` and `efo`), and the write of a DataFrame. */
object ConnectorPeer extends Peer {
  private val Tasks = 2

  /** Requests in flight, of all tasks. */
  private val InFlight = 16

  private val spark = SparkSession.builder().master("local[2]").appName("peers").config("spark.ui.enabled", "false")
    .config(Checkpoints.OnLocalDisk).getOrCreate()
  spark.sparkContext.setLogLevel("WARN")

  def main(@unused arguments: Array[String]): Unit = PeerServer.serve(this)

  override def read(connector: String, endpoint: String, stream: String): AutoCloseable = {
    val options = connector match {
      case "polling" => Map.empty[String, String]
      case "efo" => Map("consumerMode" -> "efo", "consumerName" -> s"spark-${System.nanoTime()}")
    }
    QueryLoop.start(spark, QueryLoop.connection(endpoint) ++ options + ("streamName" -> stream), Tally.running)
  }

  override def write(endpoint: String, stream: String, records: Long, bytes: Int): Unit = {
    // A function of numbers only, because Spark converts other results with much more work than the count.
    val counted = udf { (number: Long) =>
      Tally.count(1)
      number
    }
    spark
      .range(0, records, 1, Tasks)
      .select(counted(col("id")).cast("string").as("partitionKey"), lit(new Array[Byte](bytes)).as("data"))
      .write
      .format("kinesis")
      .mode("append")
      .options(QueryLoop.account(endpoint) ++ Map(
        "streamName" -> stream,
        "maxInFlightRequests" -> (InFlight / Tasks).toString
      ))
      .save()
  }
}
