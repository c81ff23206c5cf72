package org.sparkkinesis.integration.read

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}

import org.sparkkinesis.emulator.wire.auth.{EmulatorCredential, EmulatorRole}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

/** Several streams in one source: in one region or in several, of one account, or of another account with a role. */
class SeveralStreamsSuite extends SparkSuite {
  private val role = "arn:aws:iam::222222222222:role/reader"

  /** An emulator of another region, which accepts any credentials. */
  private lazy val europe = KinesisEmulator.start(EmulatorConfig(quotas = false, region = "eu-west-1"))

  /** An emulator of another account, whose streams require the assumed role. */
  private lazy val guarded = KinesisEmulator.start(
    EmulatorConfig(
      quotas = false,
      account = "222222222222",
      credentials = Seq(EmulatorCredential("test", "test", "111111111111")),
      roles = Seq(EmulatorRole(role, Some("shared-secret")))
    )
  )

  override def afterAll(): Unit = {
    super.afterAll()
    europe.close()
    guarded.close()
  }

  private def put(at: KinesisEmulator, stream: String, numbers: Range): Unit =
    numbers.foreach(i => at.admin.putRecord(stream, s"key-$i", utf8(i.toString)))

  private def drained(options: Map[String, String], checkpointed: String = checkpoint()): Map[String, Vector[Int]] = {
    val collected = new Collected
    val query = spark.readStream.format("kinesis")
      .options(Map("initialPosition" -> "trim_horizon", "minFetchPeriod" -> "20ms") ++ options).load()
      .writeStream.option("checkpointLocation", checkpointed).trigger(Trigger.AvailableNow())
      .foreachBatch(collected.sink).start()
    assert(query.awaitTermination(60000))
    collected.rows.groupMap(_.getAs[String]("stream"))(row => new String(row.getAs[Array[Byte]]("data")).toInt).map {
      case (stream, numbers) => stream -> numbers.sorted
    }
  }

  test("streams are selected by name and by pattern") {
    kinesis.admin.createStream("web-orders", 2)
    kinesis.admin.createStream("web-clicks", 1)
    kinesis.admin.createStream("other", 1)
    put(kinesis, "web-orders", 0 until 30)
    put(kinesis, "web-clicks", 100 until 120)
    put(kinesis, "other", 900 until 910)
    val expected = Map("web-orders" -> (0 until 30).toVector, "web-clicks" -> (100 until 120).toVector)
    assert(drained(connection("web-orders,web-clicks")) == expected)
    assert(drained(connection("x") - "streamName" + ("streamPattern" -> "web-.*")) == expected)
  }

  Seq("polling", "efo").foreach { mode =>
    test(s"streams of one name in two regions are read from their endpoints across a restart and a split: $mode") {
      val stream = s"orders-$mode"
      val (here, there) = (kinesis.admin.createStream(stream, 1), europe.admin.createStream(stream, 2))
      put(kinesis, stream, 0 until 20)
      put(europe, stream, 100 until 130)
      val at = checkpoint()
      val options = connection("x") - "streamName" - "region" ++ Map(
        "streamARN" -> s"$here,$there",
        s"endpoint.$there" -> europe.endpoint,
        "consumerMode" -> mode
      ) ++ Option.when(mode == "efo")("consumerName" -> "etl")
      assert(drained(options, at) == Map(stream -> ((0 until 20) ++ (100 until 130)).toVector))
      europe.admin.splitShard(stream, "shardId-000000000000")
      put(kinesis, stream, 20 until 25)
      put(europe, stream, 130 until 140)
      assert(drained(options, at) == Map(stream -> ((20 until 25) ++ (130 until 140)).toVector))
      Seq(kinesis, europe).foreach { each =>
        assert((each.calls.count("SubscribeToShard", stream) > 0) == (mode == "efo"))
        val changes = Seq("RegisterStreamConsumer", "DeregisterStreamConsumer").map(each.calls.count(_, stream))
        assert(changes == (if (mode == "efo") Seq(2L, 2L) else Seq(0L, 0L)))
      }
    }
  }

  test("a stream of another account is read with a role, in a streaming query and in a batch read") {
    kinesis.admin.createStream("own", 1)
    guarded.admin.createStream("lent", 1)
    put(kinesis, "own", 0 until 10)
    put(guarded, "lent", 10 until 30)
    val options = connection("own,lent") ++ Map(
      "endpoint.lent" -> guarded.endpoint,
      "roleArn.lent" -> role,
      "roleExternalId.lent" -> "shared-secret",
      "stsEndpoint" -> guarded.endpoint
    )
    assert(drained(options) == Map("own" -> (0 until 10).toVector, "lent" -> (10 until 30).toVector))
    assert(spark.read.format("kinesis").options(options).load().count() == 30L)
    val failure = intercept[KinesisConnectorException](
      spark.read.format("kinesis").options(options - "roleArn.lent").load().count()
    )
    assert(failure.condition == "KINESIS_STREAM_NOT_FOUND")
  }

  test("each stream is read with the existing consumer that its option names by ARN") {
    val options = connection("first,second") ++ Map("consumerMode" -> "efo", "registration" -> "none") ++
      Seq("first", "second").map { stream =>
        kinesis.admin.createStream(stream, 1)
        put(kinesis, stream, 0 until 10)
        s"consumerARN.$stream" -> registered(stream)
      }
    assert(drained(options) == Seq("first", "second").map(_ -> (0 until 10).toVector).toMap)
    Seq("first", "second").foreach { stream =>
      assert(kinesis.calls.count("RegisterStreamConsumer", stream) == 1L)
      assert(kinesis.calls.count("DeregisterStreamConsumer", stream) == 0L)
    }
  }

  test("without registration, a stream that has no consumer ARN is an error, and nothing is registered") {
    Seq("named", "unnamed").foreach(kinesis.admin.createStream(_, 1))
    val options = connection("named,unnamed") ++ Map(
      "consumerMode" -> "efo",
      "registration" -> "none",
      "consumerName" -> "etl",
      "consumerARN.named" -> registered("named")
    )
    val query = spark.readStream.format("kinesis").options(options).load().writeStream
      .option("checkpointLocation", checkpoint()).foreachBatch(new Collected().sink).start()
    val failure = intercept[StreamingQueryException](query.awaitTermination())
    assert(failure.getMessage.contains("KINESIS_OPTION_MISSING"), failure.getMessage)
    assert(failure.getMessage.contains("consumerARN.unnamed"), failure.getMessage)
    assert(kinesis.calls.count("RegisterStreamConsumer", "unnamed") == 0L)
  }

  /** Registers a consumer with a query that does not deregister it, and returns its ARN. */
  private def registered(stream: String): String = {
    val at = checkpoint()
    drained(
      connection(stream) ++
        Map("consumerMode" -> "efo", "consumerName" -> "kept", "requireConsumerDeregistration" -> "false"),
      at
    )
    val folder = java.nio.file.Path.of(at, "sources", "0")
    val note = folder.toFile.list().filter(_.startsWith("registered-consumers")).head
    java.nio.file.Files.readString(folder.resolve(note))
  }

  test("an option for a stream that is not read is an error") {
    kinesis.admin.createStream("alone", 1)
    val failure = intercept[AnalysisException](
      spark.read.format("kinesis").options(connection("alone") + ("region.alon" -> "eu-west-1")).load().count()
    )
    assert(failure.getCondition == "KINESIS_OPTION_UNKNOWN")
    assert(failure.getMessage.contains("'region.alone'"), failure.getMessage)
  }
}
