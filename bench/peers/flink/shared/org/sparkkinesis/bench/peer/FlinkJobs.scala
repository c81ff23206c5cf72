package org.sparkkinesis.bench.peer

import java.util.Properties
import java.util.concurrent.TimeUnit

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

import org.sparkkinesis.bench.Tally

/**
 * Jobs with Flink's connector on a new Flink cluster in this process. It compiles with Flink's last release and with
 * the sources of its connector. Payloads are byte arrays, and objects are reused.
 */
abstract class FlinkJobs extends Peer {
  import FlinkJobs._

  protected val MaxRecords = "10000"

  /** Returns the records that one of the sources reads. */
  protected def records(
      environment: StreamExecutionEnvironment,
      connector: String,
      endpoint: String,
      stream: String
  ): DataStream[Array[Byte]]

  override def read(connector: String, endpoint: String, stream: String): AutoCloseable = {
    val environment = newEnvironment(ReadParallelism)
    records(environment, connector, endpoint, stream).sinkTo(new DiscardingSink[Array[Byte]])
    val job = environment.executeAsync(connector)
    () => job.cancel().get(1, TimeUnit.MINUTES): Unit
  }

  protected def newSource(
      environment: StreamExecutionEnvironment,
      stream: String,
      settings: Map[String, String]
  ): DataStream[Array[Byte]] = {
    val source = KinesisStreamsSource
      .builder[Array[Byte]]()
      .setStreamArn(arn(stream))
      .setSourceConfig(Configuration.fromMap(settings.asJava))
      .setDeserializationSchema(new Payloads)
      .build()
    environment.fromSource(source, WatermarkStrategy.noWatermarks[Array[Byte]](), stream, BytesType)
  }

  override def write(endpoint: String, stream: String, records: Long, bytes: Int): Unit = {
    val environment = newEnvironment(WriteParallelism)
    val sink = KinesisStreamsSink
      .builder[java.lang.Long]()
      .setStreamArn(arn(stream))
      .setKinesisClientProperties(properties(connection(endpoint)))
      .setMaxInFlightRequests(InFlight / WriteParallelism)
      .setMaxBatchSize(500)
      .setMaxBufferedRequests(10000)
      .setSerializationSchema(new Numbered(bytes))
      .setPartitionKeyGenerator(ByNumber)
      .build()
    environment.fromSequence(1, records).sinkTo(sink)
    environment.execute(stream): Unit
  }

  protected def connection(endpoint: String): Map[String, String] = Map(
    "aws.region" -> "us-east-1",
    "aws.endpoint" -> endpoint,
    "aws.credentials.provider" -> "BASIC",
    "aws.credentials.provider.basic.accesskeyid" -> "AKIDEXAMPLE",
    "aws.credentials.provider.basic.secretkey" -> "secret"
  )

  private def arn(stream: String): String = s"arn:aws:kinesis:us-east-1:123456789012:stream/$stream"

  private def newEnvironment(parallelism: Int): StreamExecutionEnvironment = {
    val settings = Map(
      "taskmanager.numberOfTaskSlots" -> "8",
      "restart-strategy" -> "none",
      "restart-strategy.type" -> "none",
      "pipeline.object-reuse" -> "true"
    )
    val environment =
      StreamExecutionEnvironment.createLocalEnvironment(parallelism, Configuration.fromMap(settings.asJava))
    environment.enableCheckpointing(CheckpointMillis)
    environment
  }
}

object FlinkJobs {
  private val BytesType = PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO
  private val CheckpointMillis = 5000L

  /** One subtask for each shard of the benchmark's stream. */
  private val ReadParallelism = 4
  private val WriteParallelism = 2

  /** Requests in flight, of all subtasks. */
  private val InFlight = 16

  def properties(settings: Map[String, String]): Properties = {
    val result = new Properties
    settings.foreach { case (name, value) => result.setProperty(name, value) }
    result
  }

  final class Payloads extends AbstractDeserializationSchema[Array[Byte]](classOf[Array[Byte]]) {
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
