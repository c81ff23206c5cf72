package org.sparkkinesis.bench.dynamic

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions._

import org.sparkkinesis.bench.sink.{PutLoop, WriteTarget}
import org.sparkkinesis.bench.{Measured, MeasuredLoop, Meter}

/** Spark's write of a DataFrame to a logical stream, in two tasks: four new streams with a shard each take turns. */
final class LogicalWriteLoop(val name: String, target: WriteTarget, spark: SparkSession, size: Int)
    extends MeasuredLoop {

  override def run(records: Long): Measured = {
    val logical = new LogicalTarget(target)
    val names = (0 until PutLoop.Shards).map(i => s"$name-$i-${System.nanoTime()}")
    logical.set(names.map(logical.create(_)))
    try Meter.measure(records)(write(logical, records))
    finally names.foreach(target.deleteStream)
  }

  private def write(logical: LogicalTarget, records: Long): Unit = spark
    .range(0, records, 1, 2)
    .select(col("id").cast("string").as("partitionKey"), lit(new Array[Byte](size)).as("data"))
    .write
    .format("kinesis")
    .mode("append")
    .options(logical.options + ("maxInFlightRequests" -> (PutLoop.InFlight / 2).toString))
    .save()
}
