package org.sparkkinesis.interop.flink

import java.util.Properties
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.annotation.nowarn
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.flink.api.common.eventtime.WatermarkStrategy
import org.apache.flink.api.common.serialization.SimpleStringSchema
import org.apache.flink.api.common.typeinfo.Types
import org.apache.flink.configuration.{Configuration, RestartStrategyOptions}
import org.apache.flink.connector.kinesis.sink.{KinesisStreamsSink, PartitionKeyGenerator}
import org.apache.flink.connector.kinesis.source.KinesisStreamsSource
import org.apache.flink.connector.kinesis.source.config.KinesisStreamsSourceConfigConstants
import org.apache.flink.streaming.api.datastream.DataStream
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.streaming.api.functions.sink.SinkFunction
import org.apache.flink.streaming.connectors.kinesis.FlinkKinesisConsumer
import org.apache.flink.streaming.connectors.kinesis.config.ConsumerConfigConstants
import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.interop.ReshardedStream.Numbered
import org.sparkkinesis.interop.{ReshardedStream, Tally}
import org.sparkkinesis.suite.TimedSuite

/**
 * Runs Flink's connector against the emulator, on a Flink cluster in this process: its sources read a stream through
 * a split and a merge, and its sink has written half of the records.
 */
class FlinkSuite extends TimedSuite with BeforeAndAfterAll {
  import FlinkSuite._

  override protected def timeLimit: FiniteDuration = 10.minutes

  private lazy val emulator = KinesisEmulator.start()

  override def afterAll(): Unit = emulator.close()

  test("FlinkKinesisConsumer reads every record once by polling") {
    reads("polling", isPush = false)(consumer(consumerSettings))
  }

  test("FlinkKinesisConsumer reads every record once by enhanced fan-out") {
    val settings = consumerSettings
    settings.setProperty(ConsumerConfigConstants.RECORD_PUBLISHER_TYPE, "EFO")
    settings.setProperty(ConsumerConfigConstants.EFO_CONSUMER_NAME, "flink")
    reads("fan-out", isPush = true)(consumer(settings))
  }

  test("KinesisStreamsSource reads every record once by polling") {
    val settings = Configuration.fromMap(connection.asJava)
    settings.set(
      KinesisStreamsSourceConfigConstants.STREAM_INITIAL_POSITION,
      KinesisStreamsSourceConfigConstants.InitialPosition.TRIM_HORIZON
    )
    settings.set(KinesisStreamsSourceConfigConstants.SHARD_DISCOVERY_INTERVAL_MILLIS, Long.box(1000))
    reads("streams-source", isPush = false) { (environment, stream) =>
      val source = KinesisStreamsSource
        .builder[String]()
        .setStreamArn(stream.arn)
        .setSourceConfig(settings)
        .setDeserializationSchema(new SimpleStringSchema())
        .build()
      environment.fromSource(source, WatermarkStrategy.noWatermarks[String](), stream.name, Types.STRING)
    }
  }

  // Flink has deprecated this kind of source, but only this kind supports enhanced fan-out.
  @nowarn("cat=deprecation")
  private def consumer(settings: Properties)(environment: StreamExecutionEnvironment, stream: ReshardedStream)
      : DataStream[String] =
    environment.addSource(new FlinkKinesisConsumer[String](stream.name, new SimpleStringSchema(), settings))

  private def reads(name: String, isPush: Boolean)(
      source: (StreamExecutionEnvironment, ReshardedStream) => DataStream[String]
  ): Unit = {
    val stream = new ReshardedStream(emulator.admin, name, 5000)
    val tally = new Tally
    tallies.put(name, tally)
    stream.write(sink(stream, _))
    val environment = newEnvironment()
    source(environment, stream).addSink(new TallySink(name))
    val job = environment.executeAsync(name)
    tally.await(stream.written, 180)
    stream.reshard()
    stream.write(sink(stream, _))
    tally.await(stream.written, 180)
    job.cancel().get(60, TimeUnit.SECONDS)

    assert(tally.distinct == stream.written)
    assert(tally.duplicates == 0)
    assert((emulator.calls.count("GetRecords", name) == 0) == isPush)
    assert((emulator.calls.count("SubscribeToShard", name) > 0) == isPush)
    assert(emulator.calls.count("PutRecords", name) > 0)
  }

  /** Writes with Flink's sink and returns when all records are acknowledged. */
  private def sink(stream: ReshardedStream, records: Seq[Numbered]): Unit = {
    val environment = newEnvironment()
    val sink = KinesisStreamsSink
      .builder[String]()
      .setStreamArn(stream.arn)
      .setKinesisClientProperties(properties(connection))
      .setSerializationSchema(new SimpleStringSchema())
      .setPartitionKeyGenerator(ByKey)
      .build()
    environment.fromData(records.map(_.data).asJava).sinkTo(sink)
    environment.execute(s"to ${stream.name}")
    ()
  }

  private def newEnvironment(): StreamExecutionEnvironment = {
    val settings = new Configuration
    settings.set(RestartStrategyOptions.RESTART_STRATEGY, "none")
    StreamExecutionEnvironment.createLocalEnvironment(2, settings)
  }

  private def connection: Map[String, String] = Map(
    "aws.region" -> emulator.region,
    "aws.endpoint" -> emulator.endpoint,
    "aws.credentials.provider.basic.accesskeyid" -> "AKIDEXAMPLE",
    "aws.credentials.provider.basic.secretkey" -> "secret"
  )

  private def consumerSettings: Properties = properties(
    connection ++ Map(
      ConsumerConfigConstants.STREAM_INITIAL_POSITION -> "TRIM_HORIZON",
      ConsumerConfigConstants.SHARD_DISCOVERY_INTERVAL_MILLIS -> "1000"
    )
  )

  private def properties(settings: Map[String, String]): Properties = {
    val result = new Properties
    settings.foreach { case (name, value) => result.setProperty(name, value) }
    result
  }
}

object FlinkSuite {

  /** The tallies by stream, in a static map because Flink deserializes its sinks. */
  private val tallies = new ConcurrentHashMap[String, Tally]

  final private class TallySink(stream: String) extends SinkFunction[String] {
    override def invoke(value: String, context: SinkFunction.Context): Unit = tallies.get(stream).read(value)
  }

  private object ByKey extends PartitionKeyGenerator[String] {
    override def apply(data: String): String = data.takeWhile(_ != ' ')
  }
}
