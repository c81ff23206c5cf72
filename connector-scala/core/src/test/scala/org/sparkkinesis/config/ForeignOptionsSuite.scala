package org.sparkkinesis.config

import org.sparkkinesis.config.ForeignOption.{Ignored, Refused, Renamed}
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

  test("all options in the documentation of Databricks are known") {
    val documented =
      Seq("streamName", "streamARN", "region", "endpoint", "initialPosition", "consumerMode", "consumerName") ++
        Seq("consumerNamePrefix", "consumerRefreshInterval", "registeredConsumerId", "registeredConsumerIdType") ++
        Seq("requireConsumerDeregistration", "registerConsumerTimeoutInterval", "deregisterConsumerTimeoutInterval") ++
        Seq(
          "fetchBufferSize",
          "maxFetchDuration",
          "maxFetchRate",
          "minFetchPeriod",
          "maxRecordsPerFetch",
          "shardsPerTask"
        ) ++
        Seq("maxPartitions", "shardFetchInterval", "maxShardsPerDescribe", "coalesce", "coalesceThresholdBlockSize") ++
        Seq(
          "coalesceBinSize",
          "reuseKinesisClient",
          "clientRetries",
          "serviceCredential",
          "awsAccessKey",
          "awsSecretKey"
        ) ++
        Seq("roleArn", "roleExternalId", "roleSessionName", "stsEndpoint")
    val known = (ConnectorOptions.all.map(_.key) ++ ForeignOptions.all.map(_.name)).toSet
    assert(documented.filterNot(known) == Nil)
  }
}
