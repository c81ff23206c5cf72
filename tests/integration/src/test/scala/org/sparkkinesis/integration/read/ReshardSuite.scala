package org.sparkkinesis.integration.read

import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.integration.SparkSuite

/** Shards that are split and merged while they are read: nothing is lost, and every key stays in order. */
class ReshardSuite extends SparkSuite {
  private val Keys = 17

  private def put(stream: String, numbers: Range): Unit =
    numbers.foreach(i => kinesis.admin.putRecord(stream, s"key-${i % Keys}", utf8(i.toString)))

  private def start(stream: String, collected: Collected, at: String, options: (String, String)*): StreamingQuery =
    readStream(
      stream,
      options: _*
    ).load().writeStream.option("checkpointLocation", at).foreachBatch(collected.sink).start()

  private def shardId(index: Int): String = f"shardId-$index%012d"

  /** All of them once, and within a key in the order in which they were put; within a batch any order will do. */
  private def assertComplete(collected: Collected, count: Int): Unit = {
    assert(collected.texts.map(_.toInt).sorted == (0 until count).toVector)
    val byKey = collected.byBatch.map { rows =>
      rows.groupMap(_.getAs[String]("partitionKey"))(row => new String(row.getAs[Array[Byte]]("data")).toInt)
    }
    (0 until Keys).map(k => s"key-$k").foreach { key =>
      val seen = byKey.flatMap(_.getOrElse(key, Vector.empty).sorted)
      assert(seen == seen.sorted, key)
    }
  }

  test("children of a split and of a merge come after their parents, and nothing is lost") {
    kinesis.admin.createStream("reshard", 2)
    put("reshard", 0 until 300)
    val collected = new Collected
    val at = checkpoint()
    val query = start("reshard", collected, at, "maxRecordsPerTrigger" -> "50")
    await(query, "some rows")(collected.rows.nonEmpty)
    kinesis.admin.splitShard("reshard", shardId(0))
    put("reshard", 300 until 600)
    await(query, "400 rows")(collected.rows.size >= 400)
    query.stop()
    kinesis.admin.mergeShards("reshard", shardId(3), shardId(1))
    put("reshard", 600 until 900)
    // Into the same collection: the batch that was stopped between its output and its commit runs again.
    val second = start("reshard", collected, at)
    await(second, "900 rows")(collected.rows.size >= 900)
    assertComplete(collected, 900)
  }

  Seq(
    ("polling", "GetRecords", Seq("retry.getRecords.backoff.max" -> "100ms")),
    ("fan-out", "SubscribeToShard", Seq("consumerMode" -> "efo", "consumerName" -> "etl"))
  ).foreach { case (name, operation, options) =>
    test(s"the child of a merge waits for a parent that nobody has told of yet ($name)") {
      val stream = s"behind-$name"
      kinesis.admin.createStream(stream, 2)
      put(stream, 0 until 300)
      val unavailable = FaultEffect.Error(503, "ServiceUnavailable", "by request")
      val fault = kinesis.faults.add(FaultRule(unavailable, operation, stream, shard = shardId(1)))
      val collected = new Collected
      // No listing comes by itself to tell of the shards between.
      val query = start(stream, collected, checkpoint(), options :+ ("shardFetchInterval" -> "1h"): _*)
      await(query, "rows of shard 0, and failures of shard 1")(collected.rows.nonEmpty &&
        kinesis.faults.hits(fault) > 0)
      val listings = kinesis.calls.count("ListShards", stream)
      kinesis.admin.splitShard(stream, shardId(1))
      kinesis.admin.mergeShards(stream, shardId(0), shardId(2))
      put(stream, 300 until 600)
      // Shard 0 tells of 4, the child of 0 and of 2. That 2 comes from 1, which is far behind, a listing has to tell.
      await(query, "a listing, or the child")(
        kinesis.calls.count("ListShards", stream) > listings ||
          collected.rows.exists(_.getAs[String]("shardId") == shardId(4))
      )
      kinesis.faults.remove(fault)
      await(query, "600 rows")(collected.rows.size >= 600)
      assertComplete(collected, 600)
    }
  }

  private val hasty = Seq("retry.listShards.backoff.base" -> "1ms", "retry.listShards.backoff.max" -> "10ms")

  private def leaveOut(stream: String, times: Int = Int.MaxValue): Int =
    kinesis.faults.add(FaultRule(FaultEffect.LeaveOut, "ListShards", stream, shard = shardId(1), count = times))

  test("a shard that the first listings lack is read all the same") {
    kinesis.admin.createStream("hole", 3)
    put("hole", 0 until 300)
    val fault = leaveOut("hole", times = 3)
    val collected = new Collected
    val query = start("hole", collected, checkpoint(), hasty: _*)
    await(query, "300 rows")(collected.rows.size >= 300)
    assertComplete(collected, 300)
    assert(kinesis.faults.hits(fault) == 3)
  }

  test("a shard that no listing has ends the query before it reads, unless records may be lost") {
    kinesis.admin.createStream("lacking", 2)
    put("lacking", 0 until 100)
    leaveOut("lacking")
    val collected = new Collected
    def conditionOf(body: => Any): Option[String] =
      Iterator.iterate(intercept[Throwable](body))(_.getCause).takeWhile(_ != null).collectFirst {
        case found: KinesisConnectorException => found.condition
      }
    val query = start("lacking", collected, checkpoint(), hasty: _*)
    assert(conditionOf(query.awaitTermination(60000)) == Some("KINESIS_LISTING_INCOMPLETE"))
    assert(collected.rows.size == 0)
    val batch = spark.read.format("kinesis").options(connection("lacking") ++ hasty)
    assert(conditionOf(batch.load().collect()) == Some("KINESIS_LISTING_INCOMPLETE"))
    val (held, all) =
      (kinesis.admin.records("lacking", shardId(0)).size, batch.option("failOnDataLoss", "false").load())
    assert(all.count() == held.toLong)
  }
}
