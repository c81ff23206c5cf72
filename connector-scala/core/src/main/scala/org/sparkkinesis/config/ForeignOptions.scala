package org.sparkkinesis.config

import java.util.Locale

import org.sparkkinesis.config.ConnectionOptions._
import org.sparkkinesis.config.ForeignOption._
import org.sparkkinesis.config.NetworkOptions._
import org.sparkkinesis.config.Origin._
import org.sparkkinesis.config.ReadOptions._
import org.sparkkinesis.config.WriteOptions._
import org.sparkkinesis.config.value.{ConsumerMode, Registration}

/**
 * All options of other Spark connectors for Kinesis that this connector does not share, and how it treats them.
 * `docs/migration.md` is generated from this list.
 */
object ForeignOptions {
  private val awslabs = Seq(Awslabs)
  private val qubole = Seq(Qubole)
  private val databricks = Seq(Databricks)
  private val glue = Seq(Glue)
  private val asl = Seq(KinesisAsl)

  private def renamed(entry: ConfigEntry[_], origins: Seq[Origin])(names: String*): Seq[ForeignOption] =
    names.map(name => Renamed(name, origins, entry)())

  private def ignored(origins: Seq[Origin], reason: String)(names: String*): Seq[ForeignOption] =
    names.map(Ignored(_, origins, reason))

  /** Other connectors write an instant as `AT_TIMESTAMP 2026-11-20T12:00:00Z`. */
  private def position(name: String, origins: Seq[Origin]): ForeignOption =
    Renamed(
      name,
      origins,
      initialPosition,
      "`timestamp` with `startingTimestamp` is the time of that option",
      translate = _.replaceFirst("(?i)^at_timestamp\\s+", ""),
      elsewhere = value => Option.when(value.trim.matches("(?i)(at_)?timestamp"))("startingTimestamp")
    )()

  private val fanoutConsumer: ForeignOption = Renamed(
    "fanoutConsumerARN",
    glue,
    consumerARN,
    "with `consumerMode=efo` and `registration=none`",
    implied = Seq(consumerMode -> ConsumerMode.FanOut.word, registration -> Registration.Never.word)
  )()

  private val consumerTypes =
    Map("subscribetoshard" -> ConsumerMode.FanOut.word, "getrecords" -> ConsumerMode.Polling.word)

  private val consumerType: ForeignOption = Renamed(
    "kinesis.consumerType",
    awslabs,
    consumerMode,
    "`SubscribeToShard` becomes `efo`, `GetRecords` becomes `polling`",
    value => consumerTypes.getOrElse(value.toLowerCase(Locale.ROOT), value)
  )()

  private val registeredConsumer: ForeignOption = Renamed(
    "registeredConsumerId",
    databricks,
    consumerName,
    "an ARN becomes `consumerARN`; several streams need `consumerARN.<stream>`"
  )(value => if (value.startsWith("arn:")) consumerARN else consumerName)

  private val renamedOptions: Seq[ForeignOption] = Seq(
    renamed(streamName, awslabs)("kinesis.streamName"),
    renamed(streamName, Seq(Other))("kinesis.stream.name"),
    renamed(region, awslabs)("kinesis.region", "kinesis.kinesisRegion"),
    renamed(region, qubole)("regionName"),
    renamed(endpoint, awslabs)("kinesis.endpointUrl"),
    renamed(endpoint, Seq(Qubole, Glue))("endpointUrl"),
    renamed(endpoint, Seq(Other))("kinesis.endpoint"),
    renamed(awsAccessKey, awslabs)("kinesis.awsAccessKeyId"),
    renamed(awsAccessKey, qubole)("awsAccessKeyId"),
    renamed(awsSecretKey, awslabs)("kinesis.awsSecretKey"),
    renamed(sessionToken, awslabs)("kinesis.sessionToken"),
    renamed(roleArn, awslabs)("kinesis.stsRoleArn"),
    renamed(roleArn, Seq(Qubole, Glue))("awsSTSRoleARN"),
    renamed(roleSessionName, awslabs)("kinesis.stsSessionName"),
    renamed(roleSessionName, Seq(Qubole, Glue))("awsSTSSessionName"),
    renamed(stsEndpoint, awslabs)("kinesis.stsEndpointUrl"),
    renamed(proxyUser, awslabs)("kinesis.sink.proxyUsername", "proxyUsername"),
    renamed(proxyPassword, awslabs)("kinesis.sink.proxyPassword"),
    renamed(maxConnections, awslabs)("kinesis.sink.maxConnections"),
    renamed(maxConnections, qubole)("kinesis.executor.maxConnections"),
    renamed(stsEndpoint, glue)("awsSTSEndpoint"),
    Seq(position("kinesis.startingPosition", awslabs), position("startingPosition", Seq(Qubole, Glue))),
    renamed(initialPosition, glue)("startingTimestamp"),
    Seq(consumerType, registeredConsumer),
    renamed(consumerName, awslabs)("kinesis.consumerName"),
    Seq(fanoutConsumer),
    renamed(failOnDataLoss, awslabs)("kinesis.failOnDataLoss"),
    renamed(shardFetchInterval, awslabs)("kinesis.describeShardInterval"),
    renamed(shardFetchInterval, qubole)("kinesis.client.describeShardInterval"),
    renamed(shardFetchInterval, glue)("describeShardInterval"),
    renamed(maxRecordsPerFetch, awslabs)("kinesis.getRecords.numberOfRecordsPerFetch"),
    renamed(maxRecordsPerFetch, qubole)("kinesis.executor.maxRecordPerRead"),
    renamed(maxRecordsPerFetch, glue)("maxRecordPerRead"),
    renamed(minFetchPeriod, awslabs)("kinesis.getRecords.fetchIntervalMs"),
    renamed(minFetchPeriod, qubole)("kinesis.executor.idleTimeBetweenReadsInMs"),
    renamed(minFetchPeriod, glue)("idleTimeBetweenReadsInMs"),
    renamed(RetryOptions.subscribeToShard.maxRetries, awslabs)("kinesis.subscribeToShard.maxRetries"),
    renamed(maxTimeInBuffer, awslabs)("kinesis.sink.recordMaxBufferedTimeMs"),
    renamed(maxTimeInBuffer, qubole)("kinesis.executor.recordMaxBufferedTime"),
    renamed(maxTimeInBuffer, glue)("recordMaxBufferedTime"),
    renamed(aggregation, awslabs)("kinesis.sink.aggregationEnabled"),
    renamed(aggregation, qubole)("kinesis.executor.aggregationEnabled"),
    renamed(aggregation, glue)("aggregationEnabled"),
    renamed(maxBatchSize, glue)("collectionMaxCount"),
    renamed(maxBatchBytes, glue)("collectionMaxSize"),
    renamed(initialPosition, asl)("initialPositionInStream"),
    Seq(Renamed(
      "kinesis.sink.recordTtl",
      awslabs,
      deliveryTimeout,
      "the task fails when the time is over; no record is dropped"
    )())
  ).flatten

  private val pacing =
    "The connector reads as fast as the service's quotas allow, and slows down when it is throttled; " +
      "'maxFetchesPerSecond' sets another limit."
  private val perBatch =
    "Records are fetched before a micro-batch is planned, so a batch does not wait for them; " +
      "'maxRecordsPerTrigger' and 'maxBytesPerTrigger' limit it."
  private val noMetadata =
    "The connector keeps no metadata store: each micro-batch is a range of sequence numbers in Spark's own checkpoint."
  private val ownRetries =
    "Each operation has its own settings: 'retry.<operation>.maxRetries' and 'retry.<operation>.backoff.*'."
  private val noCheck = "The consumers know whether there are new records; no thread has to check."
  private val noEmptyBatch = "The connector never plans an empty micro-batch."
  private val noBlocks =
    "The connector keeps fetched records in its own buffer, not in Spark blocks that could be small."
  private val flushing = "A task flushes at its end and waits for every answer, without polling."
  private val consumerTimes =
    s"The connector waits up to $ConsumerActivation until a consumer is ACTIVE, " +
      s"and up to $ConsumerDeregistration to deregister it."

  private val ignoredOptions: Seq[ForeignOption] = Seq(
    ignored(databricks, pacing)("maxFetchRate"),
    ignored(databricks, perBatch)("maxFetchDuration"),
    ignored(databricks, noBlocks)("coalesce", "coalesceThresholdBlockSize", "coalesceBinSize"),
    ignored(
      databricks,
      "The shards are spread over all cores; 'shardsPerTask' sets the number of tasks."
    )("maxPartitions"),
    ignored(databricks, "The connector reads every page of a shard listing.")("maxShardsPerDescribe"),
    ignored(databricks, "All queries of a JVM share their clients.")("reuseKinesisClient"),
    ignored(databricks, ownRetries)("clientRetries"),
    ignored(databricks, "A consumer that was deregistered is noticed by the next call that names it.")(
      "consumerRefreshInterval"
    ),
    ignored(databricks, consumerTimes)("registerConsumerTimeoutInterval", "deregisterConsumerTimeoutInterval"),
    ignored(databricks, "The value of 'registeredConsumerId' shows whether it is a name or an ARN.")(
      "registeredConsumerIdType"
    ),
    ignored(awslabs, perBatch)("kinesis.maxFetchRecordsPerShard", "kinesis.maxFetchTimePerShardSec"),
    ignored(awslabs, "Spark's setting 'spark.sql.streaming.minBatchesToRetain' is the one that counts.")(
      "kinesis.minBatchesToRetain"
    ),
    ignored(awslabs, noCheck)("kinesis.checkNewRecordThreads"),
    ignored(awslabs, noMetadata)(
      "kinesis.metadataCommitterType",
      "kinesis.metadataPath",
      "kinesis.metadataNumRetries",
      "kinesis.metadataRetryIntervalsMs",
      "kinesis.metadataMaxRetryIntervalMs",
      "kinesis.dynamodb.tableName"
    ),
    ignored(awslabs, ownRetries)(
      "kinesis.clientNumRetries",
      "kinesis.clientRetryIntervalsMs",
      "kinesis.clientMaxRetryIntervalMs"
    ),
    ignored(awslabs, "A subscription stays open across micro-batches and is renewed when it ends.")(
      "kinesis.subscribeToShard.timeoutSec"
    ),
    ignored(awslabs, "The setting belongs to the other connector's inner workings.")(
      "kinesis.internal.dataQueueCapacity",
      "kinesis.internal.maxDataQueueEmptyCount",
      "kinesis.internal.dataQueueWaitTimeoutSec",
      "kinesis.internal.maintenanceTaskIntervalSec"
    ),
    ignored(awslabs, noEmptyBatch)("kinesis.internal.avoidEmptyBatches"),
    ignored(awslabs, flushing)("kinesis.sink.flushWaitTimeMs"),
    ignored(qubole, "The AWS default chain includes instance profiles.")("awsUseInstanceProfile"),
    ignored(qubole, perBatch)("kinesis.executor.maxFetchTimeInMs", "kinesis.executor.maxFetchRecordsPerShard"),
    ignored(qubole, pacing)("kinesis.executor.addIdleTimeBetweenReads"),
    ignored(qubole, ownRetries)(
      "kinesis.client.numRetries",
      "kinesis.client.retryIntervalMs",
      "kinesis.client.maxRetryIntervalMs"
    ),
    ignored(qubole, noEmptyBatch)("kinesis.client.avoidEmptyBatches"),
    ignored(qubole, noCheck)("kinesis.client.maxParallelThreads"),
    ignored(qubole, noMetadata)(
      "kinesis.executor.metadata.committer",
      "kinesis.executor.metadata.path",
      "kinesis.executor.metadata.hdfs.numRetries",
      "kinesis.executor.metadata.hdfs.retryIntervalMs",
      "kinesis.executor.metadata.hdfs.maxRetryIntervalMs"
    ),
    ignored(qubole, flushing)("kniesis.executor.flushWaitTimeMillis", "kinesis.executor.flushWaitTimeMillis"),
    ignored(glue, perBatch)("maxFetchTimeInMs", "maxFetchRecordsPerShard"),
    ignored(glue, pacing)("addIdleTimeBetweenReads"),
    ignored(glue, ownRetries)("numRetries", "retryIntervalMs", "maxRetryIntervalMs"),
    ignored(glue, noEmptyBatch)("avoidEmptyBatches"),
    ignored(glue, "The column 'approximateArrivalTimestamp' always has the time.")("addRecordTimestamp"),
    ignored(glue, "An aggregate has the records of one request and shard, up to the size that the KPL uses.")(
      "aggregationMaxSize",
      "aggregationMaxCount"
    ),
    ignored(glue, "The sink adapts its rate to what each shard accepts; 'rateLimiting' selects how.")(
      "producerRateLimit"
    ),
    ignored(asl, noMetadata)("checkpointAppName", "checkpointInterval", "dynamoDBCredentials"),
    ignored(asl, noBlocks)("storageLevel"),
    ignored(asl, "The metrics are in Spark's progress of the query and in its metrics system.")(
      "metricsLevel",
      "metricsEnabledDimensions",
      "cloudWatchCredentials"
    ),
    ignored(glue, "The lag is in the metrics of the query's progress.")("emitConsumerLagMetrics")
  ).flatten

  private def refused(origins: Seq[Origin], reason: String, fix: String)(names: String*): Seq[ForeignOption] =
    names.map(Refused(_, origins, reason, fix))

  private val payload = "The connector does not parse payloads: the column 'data' has the bytes of each record."
  private val parse =
    "Leave the option out, and parse the column, for example with from_json(CAST(data AS STRING), schema)."
  private val oneProxy = "Set 'proxy' to http://HOST:PORT."
  private val supplier =
    "Set 'credentialsProvider' to a class that implements java.util.function.Supplier, as the reference of options " +
      "describes."

  private val refusedOptions: Seq[ForeignOption] = Seq(
    refused(
      databricks,
      "Only Databricks can resolve its service credentials.",
      "Use 'roleArn', 'profile', 'credentialsProvider', or the AWS default chain."
    )("serviceCredential"),
    refused(awslabs, "The class implements an interface of the other connector.", supplier)(
      "kinesis.credentialProviderClass",
      "kinesis.credentialProviderParam"
    ),
    refused(awslabs, "The address and the port of the proxy are one option.", oneProxy)(
      "kinesis.sink.proxyAddress",
      "kinesis.sink.proxyPort",
      "proxyAddress",
      "proxyPort"
    ),
    refused(glue, payload, parse)("classification", "delimiter", "inferSchema", "schema")
  ).flatten

  val all: Seq[ForeignOption] = renamedOptions ++ ignoredOptions ++ refusedOptions

  private val byName: Map[String, ForeignOption] = all.map(option => option.lowerName -> option).toMap

  /** Finds an option by its name in lower case. */
  def find(lowerName: String): Option[ForeignOption] = byName.get(lowerName)
}
