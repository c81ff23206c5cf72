package org.sparkkinesis.bench.peer

import java.net.URI
import java.util.concurrent.TimeUnit

import scala.annotation.unused
import scala.collection.mutable

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.dynamodb.services.local.embedded.DynamoDBEmbedded
import software.amazon.kinesis.common._
import software.amazon.kinesis.coordinator.Scheduler
import software.amazon.kinesis.lifecycle.events._
import software.amazon.kinesis.metrics.NullMetricsFactory
import software.amazon.kinesis.processor.{ShardRecordProcessor, ShardRecordProcessorFactory, SingleStreamTracker}
import software.amazon.kinesis.retrieval.fanout.FanOutConfig
import software.amazon.kinesis.retrieval.polling.PollingConfig

import org.sparkkinesis.bench.Tally

/** KCL 3 (`polling` and `efo`) with its tables in DynamoDB Local, in this process. It does not write. */
object KclPeer extends Peer {
  private val dynamo = DynamoDBEmbedded.create(true)
  private val clients = mutable.HashMap.empty[String, KinesisAsyncClient]

  def main(@unused arguments: Array[String]): Unit = PeerServer.serve(this)

  override def read(connector: String, endpoint: String, stream: String): AutoCloseable = {
    val client = clients.getOrElseUpdate(
      endpoint,
      KinesisClientUtil.createKinesisAsyncClient(at(endpoint)(KinesisAsyncClient.builder()))
    )
    val application = s"$stream-${System.nanoTime()}"
    val retrieval = connector match {
      case "polling" =>
        new PollingConfig(stream, client).idleTimeBetweenReadsInMillis(0L).maxRecords(10000)
      case "efo" => new FanOutConfig(client).streamName(stream).applicationName(application)
    }
    val horizon = InitialPositionInStreamExtended.newInitialPosition(InitialPositionInStream.TRIM_HORIZON)
    val configs = new ConfigsBuilder(
      new SingleStreamTracker(stream, horizon),
      application,
      client,
      dynamo.dynamoDbAsyncClient(),
      // KCL never calls CloudWatch here, because metrics are off.
      at(endpoint)(CloudWatchAsyncClient.builder()).build(),
      "worker",
      Counting
    )
    val scheduler = new Scheduler(
      configs.checkpointConfig,
      configs.coordinatorConfig.parentShardPollIntervalMillis(500),
      configs.leaseManagementConfig.leaseAssignmentIntervalMillis(2000L),
      configs.lifecycleConfig,
      configs.metricsConfig.metricsFactory(new NullMetricsFactory),
      configs.processorConfig,
      configs.retrievalConfig.retrievalSpecificConfig(retrieval)
    )
    new Thread(scheduler, application).start()
    () => scheduler.startGracefulShutdown().get(1, TimeUnit.MINUTES): Unit
  }

  override def write(endpoint: String, stream: String, records: Long, bytes: Int): Unit =
    throw new UnsupportedOperationException("KCL does not write")

  private def at[C, B <: AwsClientBuilder[B, C]](endpoint: String)(builder: B with AwsClientBuilder[B, C]): B =
    builder
      .endpointOverride(URI.create(endpoint))
      .region(Region.US_EAST_1)
      .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("AKIDEXAMPLE", "secret")))

  private object Counting extends ShardRecordProcessorFactory {
    override def shardRecordProcessor(): ShardRecordProcessor = new ShardRecordProcessor {
      override def initialize(input: InitializationInput): Unit = ()
      override def processRecords(input: ProcessRecordsInput): Unit = Tally.count(input.records.size)
      override def leaseLost(input: LeaseLostInput): Unit = ()
      override def shardEnded(input: ShardEndedInput): Unit = input.checkpointer.checkpoint()
      override def shutdownRequested(input: ShutdownRequestedInput): Unit = input.checkpointer.checkpoint()
    }
  }
}
