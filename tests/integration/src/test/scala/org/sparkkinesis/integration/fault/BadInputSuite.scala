package org.sparkkinesis.integration.fault

import java.nio.file.{Files, Path}

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._
import org.sparkkinesis.spark.session.checkpoint.{HadoopCheckpointFiles, InitialOffsetStore}

/** Each invalid input is an error with its condition, before any record moves. */
class BadInputSuite extends SparkSuite {

  private def condition(body: => Any): KinesisConnectorException = {
    val thrown = intercept[Throwable](body)
    Iterator
      .iterate(thrown)(_.getCause)
      .takeWhile(_ != null)
      .collectFirst { case found: KinesisConnectorException => found }
      .getOrElse(throw new AssertionError(s"no condition in $thrown", thrown))
  }

  private def streamed(options: Map[String, String], at: String = checkpoint()): StreamingQuery =
    spark.readStream.format("kinesis").options(options).load().writeStream.format("noop").option(
      "checkpointLocation",
      at
    ).trigger(Trigger.AvailableNow()).start()

  private def ran(query: StreamingQuery): Unit = assert(query.awaitTermination(60000))

  private lazy val good: Map[String, String] = {
    kinesis.admin.createStream("good", 1)
    kinesis.admin.putRecord("good", "k", utf8("v"))
    connection("good")
  }

  test("an unknown option is an error with the nearest name at load") {
    val error = condition(spark.readStream.format("kinesis").options(good).option("initalPosition", "latest").load())
    assert(error.condition == "KINESIS_OPTION_UNKNOWN")
    assert(error.getMessage.contains("Did you mean 'initialPosition'?"), error.getMessage)
  }

  private val atLoad = Seq(
    ("bad value", Map("maxRecordsPerTrigger" -> "0"), "KINESIS_OPTION_INVALID"),
    ("bad position", Map("initialPosition" -> "yesterday"), "KINESIS_OPTION_INVALID"),
    ("bad region", Map("region" -> "mars"), "KINESIS_OPTION_INVALID"),
    ("bad endpoint", Map("endpoint" -> "nowhere"), "KINESIS_OPTION_INVALID"),
    ("bad name", Map("streamName" -> "no spaces"), "KINESIS_OPTION_INVALID")
  )
  atLoad.foreach { case (name, options, expected) =>
    test(s"$name is an error at load") {
      assert(condition(spark.read.format("kinesis").options(good ++ options).load()).condition == expected)
    }
  }

  private val beforeData = Seq(
    ("no such stream", Map("streamName" -> "missing"), "KINESIS_STREAM_NOT_FOUND"),
    ("no stream named", Map("streamName" -> null), "KINESIS_OPTION_MISSING"),
    ("incomplete static credentials", Map("awsSecretKey" -> null), "KINESIS_OPTION_MISSING"),
    ("two sources of credentials", Map("profile" -> "other"), "KINESIS_OPTION_CONFLICT"),
    (
      "a name and an ARN",
      Map("streamARN" -> "arn:aws:kinesis:us-east-1:000000000000:stream/good"),
      "KINESIS_OPTION_CONFLICT"
    ),
    ("plain http to another host", Map("endpoint" -> "http://192.0.2.1:4567"), "KINESIS_OPTION_INVALID"),
    ("an unreachable endpoint", Map("endpoint" -> "http://127.0.0.1:9"), "KINESIS_ENDPOINT_UNREACHABLE"),
    (
      "a missing class of credentials",
      Map("awsAccessKey" -> null, "awsSecretKey" -> null, "credentialsProvider" -> "no.such.Class"),
      "KINESIS_CREDENTIALS_FAILED"
    ),
    (
      "a position for a shard that does not exist",
      Map("initialPosition" -> """{"shardId-000000000009": "latest"}"""),
      "KINESIS_SHARD_UNKNOWN"
    ),
    (
      "a position of a stream that is not read",
      Map("initialPosition" -> """{"god": "latest"}"""),
      "KINESIS_OPTION_INVALID"
    ),
    (
      "fan-out without registration and without an ARN",
      Map("consumerMode" -> "efo", "registration" -> "none", "consumerName" -> "x"),
      "KINESIS_OPTION_MISSING"
    ),
    (
      "eager registration",
      Map("consumerMode" -> "efo", "registration" -> "eager", "consumerName" -> "x"),
      "KINESIS_OPTION_INVALID"
    )
  )
  beforeData.foreach { case (name, changes, expected) =>
    val options = () => (good ++ changes).filter(_._2 != null)
    test(s"$name ends a streaming query with its condition") {
      assert(condition(ran(streamed(options()))).condition == expected)
    }
    test(s"$name ends a batch read with its condition") {
      assert(condition(spark.read.format("kinesis").options(options()).load().collect()).condition == expected)
    }
  }

  test("a checkpoint of another stream is an error") {
    kinesis.admin.createStream("other", 1)
    val at = checkpoint()
    ran(streamed(good + ("initialPosition" -> "trim_horizon"), at))
    val error = condition(ran(streamed(connection("other"), at)))
    assert(error.condition == "KINESIS_CHECKPOINT_OTHER_STREAM")
    assert(error.getMessage.contains("stream/good") && error.getMessage.contains("stream/other"), error.getMessage)
  }

  private def remake(stream: String): Unit = {
    kinesis.admin.deleteStream(stream)
    val before = System.currentTimeMillis()
    while (System.currentTimeMillis() <= before) Thread.onSpinWait()
    kinesis.admin.createStream(stream, 1)
    ()
  }

  private val now = StartStream(Trigger.AvailableNow())
  private val accepting = StartStream(Trigger.AvailableNow(), Map("failOnDataLoss" -> "false"))

  test(
    "a checkpoint of a recreated stream is an error; without failOnDataLoss the new stream is read from the start"
  ) {
    testStream("again", 1)(
      PutRecords(Seq(1)),
      now,
      AwaitEnd,
      Execute("delete the stream and create it again")(run => remake(run.stream)),
      PutRecords(Seq(2)),
      now,
      ExpectFailure("KINESIS_STREAM_RECREATED"),
      CheckRowsNow(Seq(1)),
      accepting.copy(options = accepting.options + ("initialPosition" -> "latest")),
      AwaitEnd,
      CheckRowsNow(Seq(1, 2))
    )
  }

  /** Changes the offset of the first batch in the checkpoint. */
  private def editOffset(run: StreamRun)(change: String => String): Unit = {
    val log = Path.of(run.checkpoint, "offsets", "0")
    val lines = Files.readString(log).linesIterator.toVector
    Files.writeString(log, (lines.init :+ change(lines.last)).mkString("\n"))
    Files.deleteIfExists(Path.of(run.checkpoint, "offsets", ".0.crc"))
    ()
  }

  test("a position before the retention period is data loss") {
    testStream("expired", 1, "initialPosition" -> "2020-01-01T00:00:00Z")(
      PutRecords(Seq(1)),
      now,
      AwaitEnd,
      // The emulator's stream keeps records for a day.
      Execute("the query last ran in 2020")(
        editOffset(_)(_.replaceAll("\"base\":\\d+", "\"base\":1577836800000"))
      ),
      now,
      ExpectFailure("KINESIS_DATA_LOSS"),
      accepting,
      AwaitEnd
    )
  }

  test("an unwritable checkpoint is an error") {
    val file = Files.createTempFile(temporary, "a-file", "")
    val files = new HadoopCheckpointFiles(
      Path.of(file.toString, "below").toString,
      spark.sparkContext.hadoopConfiguration
    )
    val store = new InitialOffsetStore(files)
    val error = condition(store.getOrElseUpdate(org.sparkkinesis.plan.offset.SourceOffset(Nil)))
    assert(error.condition == "KINESIS_CHECKPOINT_UNWRITABLE")
  }

  test("a damaged offset in the checkpoint is an error") {
    testStream("damaged", 1)(
      PutRecords(Seq(1)),
      now,
      AwaitEnd,
      Execute("damage the offset of a batch that is not committed") { run =>
        editOffset(run)(_.replace("\"v\":1", "\"v\":7"))
        Seq("0", ".0.crc").foreach(name => Files.deleteIfExists(Path.of(run.checkpoint, "commits", name)))
      },
      now,
      ExpectFailure("KINESIS_OFFSET_INVALID")
    )
  }

  test("plan, options and errors contain no secret") {
    val options = good ++ Map("awsAccessKey" -> "AKIASECRETOFATEST", "awsSecretKey" -> "secret-of-a-test")
    val rows = spark.read.format("kinesis").options(options).load()
    val plan = rows.queryExecution.toString
    val error = condition(spark.read.format("kinesis").options(options ++
      Map("streamName" -> "missing")).load().collect()).getMessage
    Seq(plan, error).foreach(text =>
      assert(!text.contains("secret-of-a-test") && !text.contains("AKIASECRETOFATEST"), text)
    )
  }
}
