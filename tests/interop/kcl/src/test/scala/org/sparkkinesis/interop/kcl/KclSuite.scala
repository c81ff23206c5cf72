package org.sparkkinesis.interop.kcl

import java.net.URI
import java.nio.file.Files
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.dynamodb.services.local.embedded.DynamoDBEmbedded
import software.amazon.kinesis.common._
import software.amazon.kinesis.coordinator.Scheduler
import software.amazon.kinesis.metrics.NullMetricsFactory
import software.amazon.kinesis.processor.SingleStreamTracker
import software.amazon.kinesis.retrieval.RetrievalSpecificConfig
import software.amazon.kinesis.retrieval.fanout.FanOutConfig
import software.amazon.kinesis.retrieval.polling.PollingConfig

import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.interop.ReshardedStream.Numbered
import org.sparkkinesis.interop.{ReshardedStream, Tally}
import org.sparkkinesis.suite.TimedSuite

/**
 * KCL 3 reads a stream of the emulator through a split and a merge, with its tables in DynamoDB Local. Half of the
 * records are KPL containers that the connector's sink packed.
 */
class KclSuite extends TimedSuite with BeforeAndAfterAll {
  override protected def timeLimit: FiniteDuration = 10.minutes

  private lazy val emulator = KinesisEmulator.start()
  private lazy val dynamo = DynamoDBEmbedded.create(true)
  private lazy val spark = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.warehouse.dir", Files.createTempDirectory("warehouse").toString)
    .getOrCreate()

  override def afterAll(): Unit = {
    spark.stop()
    dynamo.shutdown()
    emulator.close()
  }

  test("polling reads every record once and in order, parents before children") {
    reads("polling", isPush = false)((stream, client) => new PollingConfig(stream, client))
  }

  test("enhanced fan-out reads every record once and in order, parents before children") {
    reads("fan-out", isPush = true) { (stream, client) =>
      new FanOutConfig(client).streamName(stream).applicationName(stream)
    }
  }

  private def reads(name: String, isPush: Boolean)(retrieval: (String, KinesisAsyncClient) => RetrievalSpecificConfig)
      : Unit = {
    val stream = new ReshardedStream(emulator.admin, name, 5000)
    val tally = new Tally
    val readers = new ShardReaders(tally)
    stream.write(packed(name, _))
    val client = KinesisClientUtil.createKinesisAsyncClient(onThisMachine(KinesisAsyncClient.builder()))
    val scheduler = newScheduler(name, client, readers, retrieval(name, client))
    new Thread(scheduler, s"kcl-$name").start()
    tally.await(stream.written, 180)
    stream.reshard()
    stream.write(packed(name, _))
    tally.await(stream.written, 180)
    scheduler.startGracefulShutdown().get(60, TimeUnit.SECONDS)

    assert(tally.distinct == stream.written)
    assert(tally.duplicates == 0)
    assert(tally.outOfOrder == 0)
    assert(readers.unpacked == stream.written / 2)
    assert(readers.seen.collect { case ShardReaders.Begun(shard) => shard }.sorted == stream.shards.map(_.id.value))
    stream.shards.foreach { shard =>
      val begun = readers.seen.indexOf(ShardReaders.Begun(shard.id.value))
      shard.parents.foreach { parent =>
        val ended = readers.seen.indexOf(ShardReaders.Ended(parent.value))
        assert(ended >= 0 && ended < begun, s"${shard.id} was begun before $parent ended: ${readers.seen}")
      }
    }
    assert((emulator.calls.count("GetRecords", name) == 0) == isPush)
    assert((emulator.calls.count("SubscribeToShard", name) > 0) == isPush)
  }

  /** Writes with the connector's sink, which packs the records. */
  private def packed(stream: String, records: Seq[Numbered]): Unit = {
    import spark.implicits._
    records
      .map(record => (record.key, record.data))
      .toDF("partitionKey", "data")
      .coalesce(1)
      .write
      .format("kinesis")
      .mode("append")
      .option("streamName", stream)
      .option("endpoint", emulator.endpoint)
      .option("region", emulator.region)
      .option("awsAccessKey", AccessKey)
      .option("awsSecretKey", SecretKey)
      .option("aggregation", "true")
      .option("ordering", "key")
      .save()
  }

  private def newScheduler(
      stream: String,
      client: KinesisAsyncClient,
      readers: ShardReaders,
      retrieval: RetrievalSpecificConfig
  ): Scheduler = {
    val horizon = InitialPositionInStreamExtended.newInitialPosition(InitialPositionInStream.TRIM_HORIZON)
    val configs = new ConfigsBuilder(
      new SingleStreamTracker(stream, horizon),
      stream,
      client,
      dynamo.dynamoDbAsyncClient(),
      // KCL never calls CloudWatch here, because metrics are off.
      onThisMachine(CloudWatchAsyncClient.builder()).build(),
      "worker",
      readers
    )
    new Scheduler(
      configs.checkpointConfig,
      configs.coordinatorConfig.parentShardPollIntervalMillis(500),
      configs.leaseManagementConfig
        .leaseAssignmentIntervalMillis(2000L)
        .shardSyncIntervalMillis(5000)
        // Let KCL learn the range of a new shard at once instead of after 30 s. From then on it ignores containers
        // with a record of another shard, so the sink, whose shard map is outdated, has to send these containers
        // again.
        .maxCacheMissesBeforeReload(0),
      configs.lifecycleConfig,
      configs.metricsConfig.metricsFactory(new NullMetricsFactory),
      configs.processorConfig,
      configs.retrievalConfig.retrievalSpecificConfig(retrieval)
    )
  }

  private val AccessKey = "AKIDEXAMPLE"
  private val SecretKey = "secret"

  private def onThisMachine[C, B <: AwsClientBuilder[B, C]](builder: B with AwsClientBuilder[B, C]): B = builder
    .endpointOverride(URI.create(emulator.endpoint))
    .region(Region.of(emulator.region))
    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(AccessKey, SecretKey)))
}
