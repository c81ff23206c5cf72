package org.sparkkinesis.integration.dynamic

import java.nio.file.Files

import scala.concurrent.duration._

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

/** Streaming queries on a logical stream whose physical streams come and go. */
class DynamicSourceSuite extends SparkSuite {
  private lazy val europe = KinesisEmulator.start(EmulatorConfig(quotas = false, region = "eu-west-1"))

  override def afterAll(): Unit = {
    super.afterAll()
    europe.close()
  }

  private def at(arn: String): KinesisEmulator = if (arn.contains(":eu-west-1:")) europe else kinesis

  private def options(logical: LogicalStream): Map[String, String] = connection("x") - "streamName" ++ Map(
    "streamId" -> "orders",
    "metadataService" -> s"file:${logical.file}",
    "metadataRefreshInterval" -> "1s",
    "removalConfirmations" -> "1",
    "initialPosition" -> "trim_horizon",
    "minFetchPeriod" -> "20ms",
    "drainGrace" -> "2s"
  )

  private def start(
      logical: LogicalStream,
      collected: Collected,
      checkpointed: String,
      more: Map[String, String] = Map.empty,
      trigger: Trigger = Trigger.ProcessingTime(0)
  ): StreamingQuery = spark.readStream.format("kinesis").options(options(logical) ++ more).load()
    .writeStream.option("checkpointLocation", checkpointed).trigger(trigger).foreachBatch(collected.sink).start()

  private def metric(query: StreamingQuery, name: String): Option[String] =
    Option(query.lastProgress).flatMap(_.sources.headOption).flatMap(source => Option(source.metrics.get(name)))

  /** Every record was read once, and the records of each key in their order. */
  private def checkExact(logical: LogicalStream, collected: Collected, ordered: Boolean): Unit = {
    val texts = collected.texts
    val expected = logical.expected
    assert(texts.size == texts.distinct.size, s"twice: ${texts.diff(texts.distinct).take(5)}")
    assert(texts.toSet == expected, s"missing: ${(expected -- texts).take(5)}")
    if (ordered) texts.map(_.split(':')).groupMap(_(0))(_(1).toLong).foreach { case (key, numbers) =>
      assert(numbers == numbers.sorted, s"$key: $numbers")
    }
  }

  private def awaitAll(query: StreamingQuery, logical: LogicalStream, collected: Collected): Unit =
    await(query, "all records", 90.seconds)(collected.rows.size >= logical.expected.size)

  Seq("polling" -> Map.empty[String, String], "efo" -> Map("consumerMode" -> "efo", "consumerName" -> "etl")).foreach {
    case (mode, more) =>
      test(s"a migration to another region reads every record once, and each key in order: $mode") {
        val (a, b) = (kinesis.admin.createStream(s"old-$mode", 4), europe.admin.createStream(s"new-$mode", 4))
        val logical = new LogicalStream(temporary)
        val collected = new Collected
        logical.set(Physical(a))
        (0 until 2000).foreach(logical.put(_, 500, at))
        val query = start(
          logical,
          collected,
          checkpoint(),
          more ++ Map("metadataAllowedEndpoints" -> "http://127.0.0.1:*")
        )
        awaitAll(query, logical, collected)
        val there = s""", "endpoint": "${europe.endpoint}", "after": ["$a"]"""
        logical.set(Physical(a, "draining"), Physical(b, members = there))
        // The writers use the old stream for one more second, and the new one from then on.
        val end = 4.seconds.fromNow
        var number = 0
        while (end.hasTimeLeft()) {
          logical.put(number, 500, at)
          number += 1
          if (number % 20 == 0) query.awaitTermination(5)
        }
        awaitAll(query, logical, collected)
        await(query, "the old stream is parked")(metric(query, "streamsParked").contains("1"))
        logical.set(Physical(b, members = s""", "endpoint": "${europe.endpoint}""""))
        (0 until 1000).foreach(logical.put(_, 500, at))
        awaitAll(query, logical, collected)
        query.stop()
        checkExact(logical, collected, ordered = true)
        val streams = collected.rows.groupMapReduce(_.getAs[String]("stream"))(_ => 1)(_ + _)
        assert(streams.keySet == Set(s"old-$mode", s"new-$mode") && streams.values.forall(_ >= 1000), streams)
      }
  }

  test("a stream that comes and goes is read on from its position, and others are not disturbed") {
    val (a, b) = (kinesis.admin.createStream("steady", 2), kinesis.admin.createStream("flapping", 2))
    val logical = new LogicalStream(temporary, lag = 0.seconds)
    val (collected, checkpointed) = (new Collected, checkpoint())
    logical.set(Physical(a), Physical(b))
    val query = start(logical, collected, checkpointed, Map("onStreamRemoved" -> "park"))
    var number = 0
    (1 to 10).foreach { round =>
      if (round % 2 == 0) logical.set(Physical(a)) else logical.set(Physical(a), Physical(b))
      val end = 1500.millis.fromNow
      while (end.hasTimeLeft()) {
        logical.put(number, 100, at)
        number += 1
        if (number % 5 == 0) query.awaitTermination(5)
      }
    }
    logical.set(Physical(a), Physical(b))
    awaitAll(query, logical, collected)
    checkExact(logical, collected, ordered = false)
    // Each shard of the stream that stays has one iterator, however often the other one left.
    assert(kinesis.calls.count("GetShardIterator", "steady") == 2)
    query.stop()
    (0 until 200).foreach(logical.put(_, 100, at))
    val again = start(logical, collected, checkpointed, Map("onStreamRemoved" -> "park"))
    awaitAll(again, logical, collected)
    again.stop()
    checkExact(logical, collected, ordered = false)
  }

  test("an outage of the metadata service ends no query, and a restart does not need the service") {
    val (a, b) = (kinesis.admin.createStream("here", 1), kinesis.admin.createStream("later", 1))
    val logical = new LogicalStream(temporary, lag = 0.seconds)
    val (collected, checkpointed) = (new Collected, checkpoint())
    logical.set(Physical(a))
    (0 until 50).foreach(logical.put(_, 10, at))
    val query = start(logical, collected, checkpointed)
    awaitAll(query, logical, collected)
    val document = Files.readString(logical.file)
    Seq("", document.take(document.length / 2), """{"version": 0, "streams": {}}""").foreach { damaged =>
      val failures = metric(query, "metadataFailures").fold(0)(_.toInt)
      logical.write(damaged)
      await(query, s"a failure for '$damaged'") {
        logical.put(0, 10, at)
        metric(query, "metadataFailures").exists(_.toInt > failures)
      }
    }
    Files.delete(logical.file)
    awaitAll(query, logical, collected)
    query.stop()
    (0 until 50).foreach(logical.put(_, 10, at))
    // A start that waited for the service would take longer than the test.
    val again = start(logical, collected, checkpointed, Map("metadataStartTimeout" -> "1h"))
    awaitAll(again, logical, collected)
    logical.set(Physical(a), Physical(b))
    (0 until 50).foreach(logical.put(_, 10, at))
    awaitAll(again, logical, collected)
    again.stop()
    checkExact(logical, collected, ordered = false)
    assert(collected.rows.map(_.getAs[String]("stream")).toSet == Set("here", "later"))
  }

  test("AvailableNow reads the streams that the service names when it starts, across its runs") {
    val (a, b) = (kinesis.admin.createStream("first", 2), kinesis.admin.createStream("second", 1))
    val logical = new LogicalStream(temporary, lag = 0.seconds)
    val (collected, checkpointed) = (new Collected, checkpoint())
    def run(): Unit = {
      val query = start(logical, collected, checkpointed, trigger = Trigger.AvailableNow())
      assert(query.awaitTermination(60000))
      query.exception.foreach(throw _)
      checkExact(logical, collected, ordered = true)
    }
    logical.set(Physical(a))
    (0 until 100).foreach(logical.put(_, 20, at))
    run()
    logical.set(Physical(a, "draining"), Physical(b, members = s""", "after": ["$a"]"""))
    run()
    // Records of the new stream wait until the grace period of the old one is over.
    (0 until 100).foreach(logical.put(_, 20, at))
    val drained = spark.readStream.format("kinesis").options(options(logical)).load()
      .writeStream.option("checkpointLocation", checkpointed).foreachBatch(collected.sink).start()
    awaitAll(drained, logical, collected)
    drained.stop()
    logical.set(Physical(b))
    (0 until 100).foreach(logical.put(_, 20, at))
    run()
    assert(collected.rows.map(_.getAs[String]("stream")).toSet == Set("first", "second"))
  }

  test(
    "a stream that is deleted after its last record does not end the query, and is read again when it is recreated"
  ) {
    val (a, b) = (kinesis.admin.createStream("stays", 1), kinesis.admin.createStream("deleted", 2))
    val logical = new LogicalStream(temporary, lag = 0.seconds)
    val collected = new Collected
    logical.set(Physical(a), Physical(b))
    (0 until 100).foreach(logical.put(_, 20, at))
    val query = start(logical, collected, checkpoint(), Map("shardFetchInterval" -> "1s"))
    awaitAll(query, logical, collected)
    await(query, "the metrics of a later batch") {
      logical.put(0, 1, at)
      metric(query, "streamsActive").contains("2")
    }
    awaitAll(query, logical, collected)
    kinesis.admin.deleteStream("deleted")
    logical.set(Physical(a), Physical(b, "standby"))
    await(query, "the deleted stream is parked") {
      logical.put(0, 20, at)
      metric(query, "streamsParked").contains("1")
    }
    awaitAll(query, logical, collected)
    kinesis.admin.createStream("deleted", 1)
    logical.set(Physical(a), Physical(b))
    (0 until 100).foreach(logical.put(_, 20, at))
    awaitAll(query, logical, collected)
    query.stop()
    checkExact(logical, collected, ordered = false)
  }

  test("a stream that cannot be reached at a restart does not stop the other one, and is read on later") {
    val (a, b) = (kinesis.admin.createStream("reachable", 1), kinesis.admin.createStream("unreachable", 1))
    val logical = new LogicalStream(temporary, lag = 0.seconds)
    val (collected, checkpointed) = (new Collected, checkpoint())
    logical.set(Physical(a), Physical(b))
    (0 until 100).foreach(logical.put(_, 20, at))
    val query = start(logical, collected, checkpointed)
    awaitAll(query, logical, collected)
    query.processAllAvailable()
    query.stop()
    val denied = FaultEffect.Error(400, "AccessDeniedException", "not for you")
    val fault = kinesis.faults.add(FaultRule(denied, stream = "unreachable"))
    (0 until 100).foreach(logical.put(_, 20, at))
    def ofA = collected.rows.count(_.getAs[String]("stream") == "reachable")
    val before = ofA
    val again = start(logical, collected, checkpointed)
    await(again, "the other stream")(ofA > before && metric(again, "streamsPending").contains("1"))
    kinesis.faults.remove(fault)
    awaitAll(again, logical, collected)
    again.stop()
    checkExact(logical, collected, ordered = true)
  }

  test("a restart does not assume a role of the checkpoint that is not allowed any more") {
    val arn = kinesis.admin.createStream("tightened", 1)
    val role = "arn:aws:iam::123456789012:role/reader"
    val logical = new LogicalStream(temporary)
    logical.set(Physical(arn, members = s", \"role\": \"$role\""))
    (0 until 50).foreach(logical.put(_, 10, at))
    val (collected, checkpointed) = (new Collected, checkpoint())
    val allowing = Map("metadataAllowedAccounts" -> "123456789012", "stsEndpoint" -> kinesis.endpoint)
    val first = start(logical, collected, checkpointed, allowing + ("metadataAllowedRoles" -> role))
    awaitAll(first, logical, collected)
    first.stop()
    val refusal = FaultEffect.Error(403, "AccessDenied", "must not be asked")
    val asked = kinesis.faults.add(FaultRule(refusal, operation = "AssumeRole"))
    try {
      val other = allowing + ("metadataAllowedRoles" -> "arn:aws:iam::123456789012:role/other")
      val second = start(logical, collected, checkpointed, other)
      val failed = intercept[StreamingQueryException](second.awaitTermination())
      assert(failed.getMessage.contains("KINESIS_METADATA_FORBIDDEN"), failed.getMessage)
      assert(failed.getMessage.contains("metadataAllowedRoles"), failed.getMessage)
      assert(kinesis.faults.hits(asked) == 0)
    } finally kinesis.faults.remove(asked)
  }

  test("a stream of an account or endpoint that is not allowed gets no call, and the others are read") {
    val a = kinesis.admin.createStream("allowed", 1)
    val foreign = a.replace(":stream/allowed", ":stream/foreign").replaceAll(":[0-9]{12}:", ":999999999999:")
    val logical = new LogicalStream(temporary)
    val collected = new Collected
    logical.set(Physical(a))
    (0 until 20).foreach(logical.put(_, 5, at))
    val more = Map("metadataAllowedAccounts" -> a.split(':')(4))
    val query = start(logical, collected, checkpoint(), more)
    awaitAll(query, logical, collected)
    val calls = europe.calls.snapshot.values.sum
    val wrong = s""", "endpoint": "${europe.endpoint}""""
    logical.set(
      Physical(a),
      Physical(foreign, exists = false),
      Physical(a.replace("allowed", "else"), members = wrong, exists = false)
    )
    await(query, "two refused streams") {
      logical.put(0, 5, at)
      metric(query, "metadataRefused").contains("2")
    }
    awaitAll(query, logical, collected)
    query.stop()
    checkExact(logical, collected, ordered = true)
    assert(europe.calls.snapshot.values.sum == calls)
    assert(kinesis.calls.snapshot.keys.forall(key => key.stream != "foreign" && key.stream != "else"))
  }
}
