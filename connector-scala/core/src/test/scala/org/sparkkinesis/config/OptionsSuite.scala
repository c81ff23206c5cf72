package org.sparkkinesis.config

import scala.concurrent.duration._

import org.scalactic.source

import org.sparkkinesis.config.value.{ConsumerMode, NearestName, OrderColumn, StreamPositions}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.suite.TimedSuite

class OptionsSuite extends TimedSuite {
  private def failure(options: (String, String)*)(implicit at: source.Position): KinesisConnectorException =
    intercept[KinesisConnectorException](Options.read(options.toMap))

  test("option names are matched without regard to case") {
    val options = Options.read(Map("STREAMNAME" -> "orders", "maxTriggerDelay" -> "1h"))
    assert(options(ConnectionOptions.streamName) == Seq(StreamRef.ByName("orders"): StreamRef))
    assert(options(ReadOptions.maxTriggerDelay) == 1.hour)
  }

  test("an option that is not set has its default or no value") {
    val options = Options.read(Map.empty)
    assert(options(ReadOptions.consumerMode) == ConsumerMode.Polling)
    assert(options(WriteOptions.maxBatchSize) == 500L)
    assert(options.get(ConnectionOptions.region) == None)
    assert(!options.isSet(ReadOptions.consumerMode))
    val unset = intercept[IllegalStateException](options(ConnectionOptions.region))
    assert(unset.getMessage == "option region has no default and is not set")
  }

  test("an unknown option is an error that suggests the nearest name") {
    val table = Seq(
      "streamNam" -> "Did you mean 'streamName'?",
      "streamArn2" -> "Did you mean 'streamARN'?",
      "maxRecordPerTriger" -> "Did you mean 'maxRecordsPerTrigger'?",
      "consumermod" -> "Did you mean 'consumerMode'?",
      "retry.getRecord.maxRetries" -> "Did you mean 'retry.getRecords.maxRetries'?",
      "zz" -> "See the reference of options for the names."
    )
    table.foreach { case (written, suggestion) =>
      val error = failure("streamName" -> "orders", written -> "secret value")
      assert(error.condition == "KINESIS_OPTION_UNKNOWN")
      assert(error.parameters == Map("option" -> written, "suggestion" -> suggestion))
      assert(!error.getMessage.contains("secret value"), error.getMessage)
    }
  }

  test("an invalid value is an error with the declared name of the option, the reason and the expected form") {
    val error = failure("MaxBatchSize" -> "501")
    assert(error.condition == "KINESIS_OPTION_INVALID")
    assert(
      error.getMessage ==
        "[KINESIS_OPTION_INVALID] The value '501' of option 'maxBatchSize' is not valid. " +
        "Cause: 501 is outside of 1 to 500. Fix: Set 'maxBatchSize' to a whole number from 1 to 500."
    )
  }

  test("an error message has one line for any value") {
    assert(failure("region" -> "frank\r\nfurt").parameters("value") == "frank\\r\\nfurt")
  }

  test("stream names and ARNs are distinguished, and duplicates are rejected") {
    val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
    assert(Options.read(Map("streamARN" -> arn))(ConnectionOptions.streamARN).map(_.name) == Seq("orders"))
    assert(Options.read(Map("streamName" -> "a, b"))(ConnectionOptions.streamName).map(_.name) == Seq("a", "b"))
    assert(failure("streamName" -> arn).parameters("reason") == s"'$arn' is not a stream name.")
    assert(failure("streamARN" -> "orders").parameters("reason") == "'orders' is not a stream ARN.")
    assert(failure("streamName" -> "a,a").parameters("reason") == "A stream is listed twice.")
    assert(failure("streamName" -> "a,,b").parameters("reason") == "'' is not a stream name.")
    assert(failure("streamName" -> "a,").parameters("reason") == "'' is not a stream name.")
  }

  test("connection options are validated") {
    val wrong = Seq(
      "region" -> "frankfurt",
      "region" -> "EU-CENTRAL-1",
      "endpoint" -> "kinesis.eu-central-1.amazonaws.com",
      "endpoint" -> "https://kinesis.eu-central-1.amazonaws.com/path",
      "roleArn" -> "arn:aws:iam::1234:role/reader",
      "roleSessionName" -> "a",
      "credentialsProvider" -> "no class",
      "consumerName" -> "two words",
      "consumerARN" -> "arn:aws:kinesis:eu-central-1:123456789012:stream/orders",
      "streamPattern" -> "("
    )
    wrong.foreach { case (key, value) =>
      assert(failure(key -> value).condition == "KINESIS_OPTION_INVALID", s"$key=$value")
    }
    val right = Seq(
      "region" -> "us-gov-west-1",
      "region" -> "eu-isoe-west-1",
      "endpoint" -> "http://127.0.0.1:4567",
      "endpoint" -> "https://kinesis.eu-central-1.amazonaws.com/",
      "roleArn" -> "arn:aws-cn:iam::123456789012:role/path/reader",
      "consumerARN" -> "arn:aws:kinesis:eu-central-1:123456789012:stream/orders/consumer/etl:1790000000"
    )
    right.foreach { case (key, value) => Options.read(Map(key -> value)) }
    assert(Options.read(Map("endpoint" -> "https://a.b/"))(ConnectionOptions.endpoint) == "https://a.b")
  }

  test("a deprecated name or one of another connector is accepted with a warning that names the current one") {
    val options = Options.read(Map("kinesis.streamName" -> "orders", "kinesis.consumerType" -> "SubscribeToShard"))
    assert(options(ConnectionOptions.streamName).map(_.name) == Seq("orders"))
    assert(options(ReadOptions.consumerMode) == ConsumerMode.FanOut)
    assert(
      options.warnings.sorted ==
        Seq(
          "Option 'kinesis.consumerType' (awslabs spark-sql-kinesis-connector) is deprecated here; use 'consumerMode'.",
          "Option 'kinesis.streamName' (awslabs spark-sql-kinesis-connector) is deprecated here; use 'streamName'."
        )
    )
    assert(Options.read(Map("streamName" -> "orders")).warnings == Nil)
  }

  test("values of options of other connectors are translated, and rejected if they are invalid") {
    val modes = Seq(
      "SubscribeToShard" -> ConsumerMode.FanOut,
      "subscribetoshard" -> ConsumerMode.FanOut,
      "GetRecords" -> ConsumerMode.Polling
    )
    modes.foreach { case (foreign, ours) =>
      assert(Options.read(Map("kinesis.consumerType" -> foreign))(ReadOptions.consumerMode) == ours)
    }
    assert(failure("kinesis.consumerType" -> "pushing").condition == "KINESIS_OPTION_INVALID")
    val position = Options.read(Map("kinesis.startingPosition" -> "AT_TIMESTAMP 2026-11-20T12:00:00Z"))
    assert(position.get(ReadOptions.initialPosition) == StreamPositions.parse("2026-11-20T12:00:00Z").toOption)
  }

  test("an option under two names is a conflict only if the values differ") {
    val error = failure("streamName" -> "orders", "kinesis.streamName" -> "events")
    assert(error.condition == "KINESIS_OPTION_CONFLICT")
    assert(error.parameters("fix") == "Keep only 'streamName'.")
    val same = Options.read(Map("streamName" -> "orders", "kinesis.streamName" -> "orders"))
    assert(same(ConnectionOptions.streamName).map(_.name) == Seq("orders"))
  }

  test("options that Spark adds are accepted") {
    Options.read(Map("checkpointLocation" -> "/tmp/x", "queryName" -> "q", "provider" -> "kinesis", "spark.foo" -> "1"))
    Options.read(Map("asyncProgressTrackingEnabled" -> "false", "asyncProgressTrackingCheckpointIntervalMs" -> "1000"))
  }

  test("recoverable errors are a list of names") {
    assert(
      Options.read(Map("retry.recoverableErrors" -> "A, b.C")).get(RetryOptions.recoverableErrors) ==
        Some(Set("A", "b.C"))
    )
    assert(failure("retry.recoverableErrors" -> "A,").condition == "KINESIS_OPTION_INVALID")
  }

  test("the delivery timeout is a duration or infinite") {
    def timeout(text: String) = Options.read(Map("deliveryTimeout" -> text))(WriteOptions.deliveryTimeout)
    assert(Seq("90s", "infinite", "INFINITE").map(timeout) == Seq(90.seconds, Duration.Inf, Duration.Inf))
    assert(Options.read(Map("deliveryTimeout" -> "Infinite")).shown(WriteOptions.deliveryTimeout) == "infinite")
    assert(Options.defaults.shown(WriteOptions.deliveryTimeout) == "10m")
    Seq("0s", "2d", "forever").foreach { text =>
      assert(failure("deliveryTimeout" -> text).condition == "KINESIS_OPTION_INVALID")
    }
  }

  test("columns to sort by have an optional direction") {
    def columns(text: String) = Options.read(Map("orderBy" -> text)).get(WriteOptions.orderBy)
    assert(columns("at").contains(Seq(OrderColumn("at", ascending = true))))
    assert(columns(" the time DESC , n asc,desc").contains(Seq(
      OrderColumn("the time", ascending = false),
      OrderColumn("n", ascending = true),
      OrderColumn("desc", ascending = true)
    )))
    Seq("a,,b", ",").foreach(text => assert(failure("orderBy" -> text).condition == "KINESIS_OPTION_INVALID"))
  }

  test("an option for one of several streams is stored with the name of the stream") {
    val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders/consumer/etl:1790000000"
    val options = Options.read(Map("consumerARN.orders" -> arn))
    assert(options.withPrefix(ReadOptions.consumerARNOf) == Map("orders" -> arn))
    assert(failure("consumerARN.orders" -> "x").condition == "KINESIS_OPTION_INVALID")
    assert(failure("consumerARN." -> arn).condition == "KINESIS_OPTION_UNKNOWN")
  }

  test("an option for one of several streams belongs to the stream with exactly its name") {
    val both = Map("streamName" -> "Orders,orders")
    def regions(more: (String, String)*): Seq[Option[String]] = {
      val options = Options.read(both ++ more)
      val streams = options(ConnectionOptions.streamName)
      options.checkStreams(ReadOptions.ofOneStream, streams)
      streams.map(options.ofStream(ReadOptions.regionOf, _))
    }
    assert(regions("region.Orders" -> "us-east-1", "region.orders" -> "eu-west-1") ==
      Seq("us-east-1", "eu-west-1").map(Some(_)))
    assert(regions("region.orders" -> "eu-west-1") == Seq(None, Some("eu-west-1")))
    assert(regions("REGION.Orders" -> "us-east-1") == Seq(Some("us-east-1"), None))
  }

  test("an option for one of several streams in another case is that of the only stream with this name") {
    def region(stream: String, more: (String, String)*): Option[String] = {
      val options = Options.read(Map("streamName" -> stream) ++ more)
      options.checkStreams(ReadOptions.ofOneStream, options(ConnectionOptions.streamName))
      options.ofStream(ReadOptions.regionOf, options(ConnectionOptions.streamName).head)
    }
    assert(region("Orders", "region.orders" -> "us-east-1").contains("us-east-1"))
    assert(region("orders", "region.ORDERS" -> "us-east-1").contains("us-east-1"))
    val twice = intercept[KinesisConnectorException](
      region("Orders", "region.orders" -> "us-east-1", "region.ORDERS" -> "us-east-1")
    )
    assert(twice.parameters("options") == "'region.ORDERS' and 'region.orders'")
    val typo = intercept[KinesisConnectorException](region("orders", "region.odrers" -> "us-east-1"))
    assert(typo.parameters("suggestion") == "No stream of this name is used. Did you mean 'region.orders'?")
  }

  test("an option for one of two streams that differ in case is an error if Spark has passed lower case") {
    val lower = Map("streamname" -> "Orders,orders", "region.orders" -> "us-east-1")
    val options = Options.read(lower)
    val error =
      intercept[KinesisConnectorException](options.checkStreams(
        ReadOptions.ofOneStream,
        options(ConnectionOptions.streamName)
      ))
    assert(error.condition == "KINESIS_OPTION_CONFLICT")
    assert(error.parameters("options") == "'region.Orders' and 'region.orders'")
    // The streams of a pattern are not in the options.
    val streams = Seq("Orders", "orders").flatMap(StreamRef.parse)
    val pattern = Options.read(Map("streamPattern" -> ".*", "region.orders" -> "us-east-1"))
    assert(intercept[KinesisConnectorException](pattern.checkStreams(ReadOptions.ofOneStream, streams)).condition ==
      "KINESIS_OPTION_CONFLICT")
  }

  test("names of parameters are matched without regard to case") {
    val options = Options.read(Map("rateLimiting.param.Burst" -> "3"))
    assert(options.withPrefix(RateLimitingOptions.param) == Map("burst" -> "3"))
  }

  test("secrets are hidden under every name and case, in texts and in error messages") {
    val raw = Map(
      "AWSSECRETKEY" -> "s3cret",
      "kinesis.awsAccessKeyId" -> "AKIAX",
      "sessionToken" -> "t0ken",
      "region" -> "eu-central-1"
    )
    val shown = Options.redact(raw)
    assert(shown("region") == "eu-central-1")
    (raw - "region").foreach { case (key, secret) => assert(!shown(key).contains(secret), key) }
    val text = Options.read(raw).toString
    Seq("s3cret", "AKIAX", "t0ken").foreach(secret => assert(!text.contains(secret), text))
    assert(text.contains("region=eu-central-1"), text)
    assert(!failure("awsSecretKey" -> "s3cret", "aws_secret_key" -> "0ther").getMessage.contains("0ther"))
    assert(!failure("awsSecretKey" -> "").getMessage.contains("''"))
  }

  test("an endpoint with credentials is rejected, and the message does not contain them") {
    val error = failure("endpoint" -> "https://user:s3cret@kinesis.local")
    assert(error.condition == "KINESIS_OPTION_INVALID")
    assert(!error.getMessage.contains("s3cret"), error.getMessage)
  }

  test("the nearest name has the fewest edits, and there is none if all names differ too much") {
    val names = Seq("streamName", "streamARN", "region")
    val table = Seq("steamName" -> Some("streamName"), "REGIO" -> Some("region"), "streamarm" -> Some("streamARN"))
    table.foreach { case (written, nearest) => assert(NearestName.of(written, names) == nearest) }
    assert(NearestName.of("q", names) == None)
    assert(NearestName.of("anything", Nil) == None)
    assert(NearestName.distance("kitten", "sitting") == 3)
    assert(NearestName.distance("", "abc") == 3)
  }
}
