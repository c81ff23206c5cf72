package org.sparkkinesis.bench.peer

import scala.annotation.{nowarn, unused}

import org.apache.flink.streaming.api.datastream.DataStream
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.streaming.connectors.kinesis.FlinkKinesisConsumer

/**
 * The connectors of Flink's last release: the source for Flink's new interface (`polling`), the older source (`older`,
 * and `efo` with enhanced fan-out), and the sink.
 */
object FlinkPeer extends FlinkJobs {
  def main(@unused arguments: Array[String]): Unit = PeerServer.serve(this)

  override protected def records(
      environment: StreamExecutionEnvironment,
      connector: String,
      endpoint: String,
      stream: String
  ): DataStream[Array[Byte]] = {
    val settings = connection(endpoint) ++ Map(
      "flink.stream.initpos" -> "TRIM_HORIZON",
      "flink.shard.getrecords.maxrecordcount" -> MaxRecords
    )
    connector match {
      case "polling" => newSource(environment, stream, settings)
      case "older" => olderSource(environment, stream, settings + ("flink.shard.getrecords.intervalmillis" -> "0"))
      case "efo" =>
        olderSource(
          environment,
          stream,
          settings ++ Map(
            "flink.stream.recordpublisher" -> "EFO",
            "flink.stream.efo.consumername" -> s"flink-${System.nanoTime()}",
            "flink.stream.describestreamconsumer.backoff.base" -> "100"
          )
        )
    }
  }

  // Flink has deprecated this kind of source, but only this kind supports enhanced fan-out in this version.
  @nowarn("cat=deprecation")
  private def olderSource(
      environment: StreamExecutionEnvironment,
      stream: String,
      settings: Map[String, String]
  ): DataStream[Array[Byte]] =
    environment.addSource(
      new FlinkKinesisConsumer[Array[Byte]](stream, new FlinkJobs.Payloads, FlinkJobs.properties(settings))
    )
}
