package org.sparkkinesis.config

import org.sparkkinesis.config.ForeignOption.{Ignored, Refused, Renamed}
import org.sparkkinesis.config.value.{ConsumerMode, Registration}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.suite.TimedSuite

class ForeignOptionsSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders/consumer/etl:1790000000"

  /** Name and value of an option of another connector, and the option and value of this connector that they set. */
  private val renamed = Seq(
    ("kinesis.streamName", "orders", "streamName", "orders"),
    (
      "kinesis.endpointUrl",
      "https://kinesis.eu-central-1.amazonaws.com",
      "endpoint",
      "https://kinesis.eu-central-1.amazonaws.com"
    ),
    ("kinesis.kinesisRegion", "eu-central-1", "region", "eu-central-1"),
    ("kinesis.consumerType", "SubscribeToShard", "consumerMode", "efo"),
    ("kinesis.consumerType", "GetRecords", "consumerMode", "polling"),
    ("kinesis.startingPosition", "AT_TIMESTAMP 2026-11-20T12:00:00Z", "initialPosition", "2026-11-20T12:00:00Z"),
    ("kinesis.startingPosition", "TRIM_HORIZON", "initialPosition", "trim_horizon"),
    ("startingTimestamp", "2026-11-20T12:00:00+01:00", "initialPosition", "2026-11-20T11:00:00Z"),
    ("kinesis.describeShardInterval", "50s", "shardFetchInterval", "50s"),
    ("kinesis.getRecords.fetchIntervalMs", "200", "minFetchPeriod", "200ms"),
    ("kinesis.executor.idleTimeBetweenReadsInMs", "1000", "minFetchPeriod", "1s"),
    ("maxRecordPerRead", "10000", "maxRecordsPerFetch", "10000"),
    ("kinesis.subscribeToShard.maxRetries", "10", "retry.subscribeToShard.maxRetries", "10"),
    ("kinesis.sink.recordMaxBufferedTimeMs", "1000", "maxTimeInBuffer", "1s"),
    ("kinesis.sink.aggregationEnabled", "True", "aggregation", "true"),
    ("kinesis.sink.recordTtl", "30000", "deliveryTimeout", "30s"),
    ("awsSTSRoleARN", "arn:aws:iam::123456789012:role/reader", "roleArn", "arn:aws:iam::123456789012:role/reader"),
    ("fanoutConsumerARN", arn, "consumerARN", arn),
    ("registeredConsumerId", "etl", "consumerName", "etl"),
    ("registeredConsumerId", arn, "consumerARN", arn)
  )

  test("a renamed option has the effect of its replacement, with a warning that names the replacement") {
    renamed.foreach { case (name, value, key, meaning) =>
      val options = Options.read(Map(name -> value))
      val entry = ConnectorOptions.all.find(_.key == key).get
      assert(options.get(entry) == Options.read(Map(key -> meaning)).get(entry), name)
      assert(options.isSet(entry), name)
      val expected = s"Option '$name' \\(.+\\) is deprecated here; use '${key.replace(".", "\\.")}'\\."
      assert(options.warnings.size == 1 && options.warnings.head.matches(expected), options.warnings)
    }
  }

  test("option names of other connectors are matched without regard to case") {
    val options =
      Options.read(Map("KINESIS.STARTINGPOSITION" -> "latest", "kniesis.executor.flushwaittimemillis" -> "1"))
    assert(options.isSet(ReadOptions.initialPosition))
    assert(options.warnings.size == 2)
  }

  test("an ignored option has no effect, with a warning that says why") {
    val ignored = ForeignOptions.all.collect { case option: Ignored => option }
    assert(ignored.size > 40)
    ignored.foreach { option =>
      val options = Options.read(Map(option.name -> "any value"))
      assert(options.toString == "Options()")
      assert(options.warnings ==
        Seq(s"Option '${option.name}' (${option.titles}) has no effect here. ${option.reason}"))
    }
  }

  test("a rejected option is an error with the reason and the fix but without its value") {
    val refused = ForeignOptions.all.collect { case option: Refused => option }
    assert(refused.size > 5)
    refused.foreach { option =>
      val error = intercept[KinesisConnectorException](Options.read(Map(option.name.toUpperCase -> "s3cret")))
      assert(error.condition == "KINESIS_OPTION_UNSUPPORTED")
      assert(error.getMessage.contains(s"Option '${option.name}' of ${option.titles} is not supported."))
      assert(error.getMessage.contains(option.reason) && error.getMessage.endsWith(option.fix))
      assert(!error.getMessage.contains("s3cret"), error.getMessage)
    }
  }

  test("every reason and every fix is a complete sentence") {
    ForeignOptions.all.flatMap {
      case option: Ignored => Seq(option.reason)
      case option: Refused => Seq(option.reason, option.fix)
      case _: Renamed => Nil
    }.foreach(text => assert(text.matches("[A-Z'].*\\."), text))
  }

  test("reasons name only options that exist") {
    val names = ConnectorOptions.all.map(_.key).toSet ++ ForeignOptions.all.map(_.name) ++
      Set("retry.<operation>.maxRetries", "retry.<operation>.backoff.*", "spark.sql.streaming.minBatchesToRetain") ++
      Set("data", "approximateArrivalTimestamp")
    ForeignOptions.all.collect {
      case option: Ignored => option.reason; case option: Refused => option.reason + option.fix
    }
      .foreach(text =>
        "\\B'([^' ]+)'".r.findAllMatchIn(text).map(_.group(1)).foreach(name => assert(names(name), text))
      )
  }

  /** The options in the documentation or the declarations of each connector, without those that only its tests use. */
  private val documented: Map[Origin, Seq[String]] = Map(
    Origin.Databricks -> Seq(
      Seq("streamName", "streamARN", "region", "endpoint", "initialPosition", "consumerMode", "consumerName"),
      Seq("consumerNamePrefix", "consumerRefreshInterval", "registeredConsumerId", "registeredConsumerIdType"),
      Seq("requireConsumerDeregistration", "registerConsumerTimeoutInterval", "deregisterConsumerTimeoutInterval"),
      Seq(
        "fetchBufferSize",
        "maxFetchDuration",
        "maxFetchRate",
        "minFetchPeriod",
        "maxRecordsPerFetch",
        "shardsPerTask"
      ),
      Seq("maxPartitions", "shardFetchInterval", "maxShardsPerDescribe", "coalesce", "coalesceThresholdBlockSize"),
      Seq(
        "coalesceBinSize",
        "reuseKinesisClient",
        "clientRetries",
        "serviceCredential",
        "awsAccessKey",
        "awsSecretKey"
      ),
      Seq("roleArn", "roleExternalId", "roleSessionName", "stsEndpoint")
    ).flatten,
    Origin.Awslabs ->
      (Seq(
        Seq(
          "region",
          "endpointUrl",
          "streamName",
          "consumerType",
          "consumerName",
          "failOnDataLoss",
          "startingPosition"
        ),
        Seq("maxFetchRecordsPerShard", "maxFetchTimePerShardSec", "describeShardInterval", "minBatchesToRetain"),
        Seq("checkNewRecordThreads", "metadataCommitterType", "metadataPath", "metadataNumRetries"),
        Seq("metadataRetryIntervalsMs", "metadataMaxRetryIntervalMs", "dynamodb.tableName", "clientNumRetries"),
        Seq("clientRetryIntervalsMs", "clientMaxRetryIntervalMs", "internal.dataQueueCapacity", "kinesisRegion"),
        Seq(
          "internal.maxDataQueueEmptyCount",
          "internal.dataQueueWaitTimeoutSec",
          "internal.maintenanceTaskIntervalSec"
        ),
        Seq("internal.avoidEmptyBatches", "stsRoleArn", "stsSessionName", "stsEndpointUrl", "awsAccessKeyId"),
        Seq("awsSecretKey", "sessionToken", "subscribeToShard.timeoutSec", "subscribeToShard.maxRetries"),
        Seq("getRecords.numberOfRecordsPerFetch", "getRecords.fetchIntervalMs", "sink.flushWaitTimeMs"),
        Seq("sink.recordMaxBufferedTimeMs", "sink.maxConnections", "sink.aggregationEnabled")
      ).flatten.map("kinesis." + _) ++ Seq("proxyAddress", "proxyPort", "proxyUsername", "proxyPassword")),
    Origin.Qubole ->
      (Seq("streamName", "endpointUrl", "awsAccessKeyId", "awsSecretKey", "awsSTSRoleARN") ++
        Seq("awsSTSSessionName", "awsUseInstanceProfile", "startingPosition", "failondataloss") ++
        Seq("maxFetchTimeInMs", "maxFetchRecordsPerShard", "maxRecordPerRead", "addIdleTimeBetweenReads")
          .map("kinesis.executor." + _) ++
        Seq("idleTimeBetweenReadsInMs", "recordMaxBufferedTime", "maxConnections", "aggregationEnabled")
          .map("kinesis.executor." + _) ++
        Seq("describeShardInterval", "numRetries", "retryIntervalMs", "maxRetryIntervalMs", "avoidEmptyBatches")
          .map("kinesis.client." + _) :+ "kniesis.executor.flushwaittimemillis"),
    Origin.Glue -> Seq(
      Seq("streamName", "streamARN", "endpointUrl", "classification", "delimiter", "schema", "inferSchema"),
      Seq("startingPosition", "startingTimestamp", "maxFetchTimeInMs", "maxFetchRecordsPerShard", "maxRecordPerRead"),
      Seq("addIdleTimeBetweenReads", "idleTimeBetweenReadsInMs", "describeShardInterval", "numRetries"),
      Seq("retryIntervalMs", "maxRetryIntervalMs", "avoidEmptyBatches", "awsSTSRoleARN", "awsSTSSessionName"),
      Seq("awsSTSEndpoint", "addRecordTimestamp", "emitConsumerLagMetrics", "fanoutConsumerARN", "maxConnections"),
      Seq("recordMaxBufferedTime", "aggregationEnabled", "aggregationMaxSize", "aggregationMaxCount"),
      Seq("producerRateLimit", "collectionMaxCount", "collectionMaxSize")
    ).flatten,
    Origin.KinesisAsl ->
      (Seq("streamName", "endpointUrl", "regionName", "initialPosition", "initialPositionInStream") ++
        Seq(
          "checkpointAppName",
          "checkpointInterval",
          "storageLevel",
          "dynamoDBCredentials",
          "cloudWatchCredentials"
        ) ++
        Seq("metricsLevel", "metricsEnabledDimensions"))
  )

  documented.foreach { case (origin, names) =>
    test(s"all options of ${origin.title} are known") {
      val known = (ConnectorOptions.all.map(_.lowerKey) ++ ForeignOptions.all.map(_.lowerName)).toSet
      assert(names.filterNot(name => known(name.toLowerCase)) == Nil)
    }
  }

  test("Glue's consumer ARN alone means fan-out, unless the user sets another mode") {
    val options = Options.read(Map("fanoutConsumerARN" -> arn))
    assert(options(ReadOptions.consumerMode) == ConsumerMode.FanOut)
    assert(options(ReadOptions.registration) == Registration.Never)
    assert(options.get(ReadOptions.consumerARN).contains(arn))
    val polling = Options.read(Map("FanoutConsumerArn" -> arn, "consumerMode" -> "polling"))
    assert(polling(ReadOptions.consumerMode) == ConsumerMode.Polling)
  }

  test("a starting position 'timestamp' is the time of the other option, which must be set") {
    val time = "startingTimestamp" -> "2023-04-04T08:00:00-04:00"
    val both = Options.read(Map("startingPosition" -> "timestamp", time))
    assert(both.get(ReadOptions.initialPosition) == Options.read(Map(time)).get(ReadOptions.initialPosition))
    assert(both.warnings.exists(_.contains("The value is that of 'startingTimestamp'.")), both.warnings)
    val alone = intercept[KinesisConnectorException](Options.read(Map("startingPosition" -> "TIMESTAMP")))
    assert(alone.condition == "KINESIS_OPTION_MISSING" && alone.parameters("required") == "'startingTimestamp'")
  }

  test("every connector has a table of changed behaviour, with options that it has") {
    val origins = Origin.all.filter(_ != Origin.Other)
    assert(origins.forall(origin => Difference.all.exists(_.origin == origin)))
    val names = documented.values.flatten.map(_.toLowerCase).toSet ++ ForeignOptions.all.map(_.lowerName)
    Difference.all.flatMap(one => "^`([^`]+)`$".r.findFirstMatchIn(one.what).map(_.group(1)))
      .foreach(name => assert(names(name.toLowerCase), name))
  }
}
