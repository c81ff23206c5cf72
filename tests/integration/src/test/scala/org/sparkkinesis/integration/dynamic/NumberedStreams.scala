package org.sparkkinesis.integration.dynamic

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

/** The common part of suites for streams that join and leave. A record has the name of its stream and a number. */
abstract class NumberedStreams extends SparkSuite {
  protected def startQuery(
      options: Map[String, String],
      collected: Collected,
      checkpointed: String,
      trigger: Trigger
  ): StreamingQuery = spark.readStream.format("kinesis")
    .options(Map("initialPosition" -> "trim_horizon", "minFetchPeriod" -> "20ms") ++ options).load()
    .writeStream.option("checkpointLocation", checkpointed).trigger(trigger).foreachBatch(collected.sink).start()

  /** Puts one record for each number, and returns the texts of the records. */
  protected def put(stream: String, numbers: Range): Set[String] = {
    numbers.foreach(i => kinesis.admin.putRecord(stream, s"key-$i", utf8(s"$stream:$i")))
    numbers.map(i => s"$stream:$i").toSet
  }
}
