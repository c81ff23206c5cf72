package org.sparkkinesis.bench.peer

import java.util.Properties
import java.util.concurrent.TimeUnit

import scala.annotation.nowarn
import scala.jdk.CollectionConverters._

import org.apache.flink.api.common.eventtime.WatermarkStrategy
import org.apache.flink.api.common.serialization.{AbstractDeserializationSchema, SerializationSchema}
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo
import org.apache.flink.configuration.Configuration
import org.apache.flink.connector.kinesis.sink.{KinesisStreamsSink, PartitionKeyGenerator}
import org.apache.flink.connector.kinesis.source.KinesisStreamsSource
import org.apache.flink.streaming.api.datastream.DataStream
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink
import org.apache.flink.streaming.connectors.kinesis.FlinkKinesisConsumer

import org.sparkkinesis.bench.Tally

/**
 * Flink's connectors on a Flink cluster in this process: the source for Flink's new interface (`polling`), the older
 * source (`older`, and `efo` with enhanced fan-out), and the sink. Payloads are byte arrays, and objects are reused.
 */
final class FlinkPeer(endpoint: String) extends Peer {
  import FlinkPeer._

  private val connection = Map(
    "aws.region" -> "us-east-1",
    "aws.endpoint" -> endpoint,
    "aws.credentials.provider" -> "BASIC",
    "aws.credentials.provider.basic.accesskeyid" -> "AKIDEXAMPLE",
    "aws.credentials.provider.basic.secretkey" -> "secret"
  )

  override def read(connector: String, stream: String): AutoCloseable = {
    val environment = newEnvironment(ReadParallelism)
    val records = connector match {
      case "polling" => newSource(environment, stream)
      case "older" => olderSource(environment, stream, Map.empty)
      case "efo" =>
        olderSource(
          environment,
          stream,
          Map(
            "flink.stream.recordpublisher" -> "EFO",
            "flink.stream.efo.consumername" -> s"flink-${System.nanoTime()}",
            "flink.stream.describestreamconsumer.backoff.base" -> "100"
          )
        )
    }
    records.sinkTo(new DiscardingSink[Array[Byte]])
    val job = environment.executeAsync(connector)
    () => job.cancel().get(1, TimeUnit.MINUTES): Unit
  }

  private def newSource(environment: StreamExecutionEnvironment, stream: String): DataStream[Array[Byte]] = {
    val settings = connection ++ Map(
      "flink.stream.initpos" -> "TRIM_HORIZON",
      "flink.shard.getrecords.maxrecordcount" -> MaxRecords
    )
    val source = KinesisStreamsSource
      .builder[Array[Byte]]()
      .setStreamArn(arn(stream))
      .setSourceConfig(Configuration.fromMap(settings.asJava))
      .setDeserializationSchema(new Payloads)
      .build()
    environment.fromSource(source, WatermarkStrategy.noWatermarks[Array[Byte]](), stream, BytesType)
  }

  // Flink has deprecated this kind of source, but only this kind supports enhanced fan-out in this version.
  @nowarn("cat=deprecation")
  private def olderSource(
      environment: StreamExecutionEnvironment,
      stream: String,
      more: Map[String, String]
  ): DataStream[Array[Byte]] = {
    val settings = connection ++ more ++ Map(
      "flink.stream.initpos" -> "TRIM_HORIZON",
      "flink.shard.getrecords.maxrecordcount" -> MaxRecords,
      "flink.shard.getrecords.intervalmillis" -> "0"
    )
    environment.addSource(new FlinkKinesisConsumer[Array[Byte]](stream, new Payloads, properties(settings)))
  }

  override def write(stream: String, records: Long, bytes: Int): Unit = {
    val environment = newEnvironment(WriteParallelism)
    val sink = KinesisStreamsSink
      .builder[java.lang.Long]()
      .setStreamArn(arn(stream))
      .setKinesisClientProperties(properties(connection))
      .setMaxInFlightRequests(InFlight / WriteParallelism)
      .setMaxBatchSize(500)
      .setMaxBufferedRequests(10000)
      .setSerializationSchema(new Numbered(bytes))
      .setPartitionKeyGenerator(ByNumber)
      .build()
    environment.fromSequence(1, records).sinkTo(sink)
    environment.execute(stream): Unit
  }

  private def newEnvironment(parallelism: Int): StreamExecutionEnvironment = {
    val settings = Configuration.fromMap(Map("taskmanager.numberOfTaskSlots" -> "8", "restart-strategy" -> "none",
      "pipeline.object-reuse" -> "true").asJava)
    val environment = StreamExecutionEnvironment.createLocalEnvironment(parallelism, settings)
    environment.enableCheckpointing(CheckpointMillis)
    environment
  }

  private def arn(stream: String) = s"arn:aws:kinesis:us-east-1:123456789012:stream/$stream"

  private def properties(settings: Map[String, String]): Properties = {
    val result = new Properties
    settings.foreach { case (name, value) => result.setProperty(name, value) }
    result
  }
}

object FlinkPeer {
  private val BytesType = PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO
  private val MaxRecords = "10000"
  private val CheckpointMillis = 5000L

  /** One subtask for each shard of the benchmark's stream. */
  private val ReadParallelism = 4
  private val WriteParallelism = 2

  /** Requests in flight, of all subtasks. */
  private val InFlight = 16

  def main(arguments: Array[String]): Unit = PeerServer.serve(new FlinkPeer(arguments.head))

  final private class Payloads extends AbstractDeserializationSchema[Array[Byte]](classOf[Array[Byte]]) {
    override def deserialize(message: Array[Byte]): Array[Byte] = {
      Tally.count(1)
      message
    }
  }

  final private class Numbered(bytes: Int) extends SerializationSchema[java.lang.Long] {
    override def serialize(number: java.lang.Long): Array[Byte] = {
      Tally.count(1)
      new Array[Byte](bytes)
    }
  }

  private object ByNumber extends PartitionKeyGenerator[java.lang.Long] {
    override def apply(number: java.lang.Long): String = number.toString
  }
}
