package org.sparkkinesis.integration.fault

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{Dataset, Row}

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.integration.read.Collected

/** Nine faults that were measured in other connectors, each as a test that such a fault fails. */
class PeerFaultsSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  private def put(stream: String, numbers: Range): Unit =
    numbers.foreach(i => kinesis.admin.putRecord(stream, s"key-$i", utf8(i.toString)))

  private def start(
      stream: String,
      collected: Collected,
      trigger: Trigger,
      at: String,
      options: (String, String)*
  ): StreamingQuery = readStream(stream, options: _*).load().writeStream
    .option("checkpointLocation", at).trigger(trigger).foreachBatch(collected.sink).start()

  private def running(stream: String, collected: Collected, options: (String, String)*): StreamingQuery =
    start(stream, collected, Trigger.ProcessingTime(0), checkpoint(), options: _*)

  private def numbers(collected: Collected): Vector[Int] = collected.texts.map(_.toInt).sorted

  test("1. a batch waits neither for idleness nor for a shard that does not answer") {
    kinesis.admin.createStream("prompt", 2)
    val fault = kinesis.faults.add(
      FaultRule(FaultEffect.Silence, "GetRecords", stream = "prompt", shard = "shardId-000000000001")
    )
    (0 until 500).foreach(i => kinesis.admin.putRecord("prompt", "k", "0", utf8(i.toString)))
    val collected = new Collected
    val query = running("prompt", collected)
    await(query, "500 rows of the other shard")(collected.rows.size >= 500 && kinesis.faults.hits(fault) > 0)
    assert(numbers(collected) == (0 until 500).toVector)
    kinesis.faults.remove(fault)
  }

  test("2. nothing new runs no batch") {
    kinesis.admin.createStream("idle", 2)
    put("idle", 0 until 10)
    val collected = new Collected
    val query = running("idle", collected)
    await(query, "10 rows")(collected.rows.size >= 10)
    val (batches, polls) = (collected.ids.size, kinesis.calls.count("GetRecords", "idle"))
    await(query, "further polls")(kinesis.calls.count("GetRecords", "idle") >= polls + 20)
    assert(collected.ids.size == batches)
  }

  test("3. a subscription is not made anew for every batch") {
    kinesis.admin.createStream("kept", 1)
    val collected = new Collected
    val query = running("kept", collected, efo: _*)
    (0 until 10).foreach { round =>
      put("kept", 100 * round until 100 * round + 100)
      await(query, s"round $round")(collected.rows.size >= 100 * round + 100)
    }
    assert(collected.ids.size >= 10, collected.ids.toString)
    assert(kinesis.calls.count("SubscribeToShard", "kept") == 1L)
  }

  Seq("polling" -> Nil, "fan-out" -> efo).foreach { case (mode, options) =>
    val suffix = mode.take(3)

    test(s"4. a shard that was split before the query began is read to its end, not taken for finished: $mode") {
      val stream = s"closed-$suffix"
      kinesis.admin.createStream(stream, 1)
      put(stream, 0 until 100)
      kinesis.admin.splitShard(stream, "shardId-000000000000")
      put(stream, 100 until 400)
      val collected = new Collected
      assert(start(stream, collected, Trigger.AvailableNow(), checkpoint(), options: _*).awaitTermination(60000))
      assert(numbers(collected) == (0 until 400).toVector)
    }

    test(s"5. a shard that is split while the query runs loses nothing: $mode") {
      val stream = s"live-$suffix"
      kinesis.admin.createStream(stream, 1)
      put(stream, 0 until 300)
      val collected = new Collected
      val query = running(stream, collected, options: _*)
      await(query, "a first row")(collected.rows.nonEmpty)
      kinesis.admin.splitShard(stream, "shardId-000000000000")
      put(stream, 300 until 1100)
      await(query, "1100 rows")(collected.rows.size >= 1100)
      assert(numbers(collected) == (0 until 1100).toVector)
    }

    test(s"6. a shard that was idle does not become 'latest': what it gets while the query is down is read: $mode") {
      val stream = s"quiet-$suffix"
      kinesis.admin.createStream(stream, 2)
      val at = checkpoint()
      val collected = new Collected
      val latest = options :+ ("initialPosition" -> "latest")
      val first = start(stream, collected, Trigger.ProcessingTime(0), at, latest: _*)
      await(first, "its start")(java.nio.file.Files.exists(java.nio.file.Path.of(at, "sources", "0", "initial-offset")))
      // Into the first shard; the other one has never had a record.
      kinesis.admin.putRecord(stream, "k", "0", utf8("0"))
      await(first, "batch 0")(collected.rows.size == 1)
      first.stop()
      val top = ((BigInt(1) << 128) - 1).toString
      (1 to 100).foreach(i => kinesis.admin.putRecord(stream, "k", top, utf8(i.toString)))
      val second = start(stream, collected, Trigger.ProcessingTime(0), at, latest: _*)
      await(second, "101 rows")(collected.rows.size >= 101)
      assert(numbers(collected) == (0 to 100).toVector)
    }
  }

  test("7. available-now under a limit takes everything, over as many batches as that needs") {
    kinesis.admin.createStream("now", 2)
    put("now", 0 until 1000)
    val collected = new Collected
    val query = start("now", collected, Trigger.AvailableNow(), checkpoint(), "maxRecordsPerTrigger" -> "200")
    assert(query.awaitTermination(60000))
    assert(numbers(collected) == (0 until 1000).toVector)
    assert(collected.byBatch.forall(_.size <= 200), collected.byBatch.map(_.size).toString)
  }

  test("8. two actions in one foreachBatch see the same rows, whatever arrives between them") {
    kinesis.admin.createStream("twice", 2)
    put("twice", 0 until 300)
    var seen = Vector.empty[(Set[String], Set[String])]
    val twice: (Dataset[Row], Long) => Unit = (rows, _) => {
      def look() = rows.collect().map(row => new String(row.getAs[Array[Byte]]("data"))).toSet
      val first = look()
      put("twice", 1000 + 100 * seen.size until 1100 + 100 * seen.size)
      val pair = (first, look())
      synchronized(seen :+= pair)
    }
    val query = readStream("twice").load().writeStream
      .option("checkpointLocation", checkpoint()).foreachBatch(twice).start()
    await(query, "three batches")(synchronized(seen.size) >= 3)
    query.stop()
    seen.foreach { case (first, second) => assert(second == first) }
  }

  test("9. a pushed record waits for no poll: the time between polls does not count for fan-out") {
    kinesis.admin.createStream("woken", 1)
    val collected = new Collected
    val query = running("woken", collected, efo :+ ("minFetchPeriod" -> "1h"): _*)
    (0 until 20).foreach { i =>
      put("woken", i to i)
      await(query, s"row $i")(collected.rows.size > i)
    }
    assert(kinesis.calls.count("GetRecords", "woken") == 0L)
  }
}
