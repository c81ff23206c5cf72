package org.sparkkinesis.bench.peer

import scala.annotation.unused

import org.apache.flink.streaming.api.datastream.DataStream
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment

/**
 * Flink's connector as a checkout of its sources has it: the source (`polling`, and `efo` with enhanced fan-out) and
 * the sink.
 */
object FlinkSourcesPeer extends FlinkJobs {
  def main(@unused arguments: Array[String]): Unit = PeerServer.serve(this)

  override protected def records(
      environment: StreamExecutionEnvironment,
      connector: String,
      endpoint: String,
      stream: String
  ): DataStream[Array[Byte]] = {
    val polling = connection(endpoint) ++ Map(
      "source.init.position" -> "TRIM_HORIZON",
      "source.shard.get-records.max-record-count" -> MaxRecords
    )
    val settings = connector match {
      case "polling" => polling
      case "efo" =>
        polling ++ Map(
          "source.reader.type" -> "EFO",
          "source.efo.consumer.name" -> s"flink-${System.nanoTime()}",
          "source.efo.describe.retry-strategy.delay.min" -> "100 ms",
          // With the default of 250 ms, the source sleeps most of the time while it reads a backlog.
          "source.reader.empty-records-fetch-interval" -> "1 ms"
        )
    }
    newSource(environment, stream, settings)
  }
}
