package org.sparkkinesis.integration.read

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{Dataset, Row}

import org.sparkkinesis.integration.SparkSuite

class MicroBatchSuite extends SparkSuite {
  private def put(stream: String, numbers: Range): Unit =
    numbers.foreach(i => kinesis.admin.putRecord(stream, s"key-${i % 17}", utf8(i.toString)))

  private def start(
      stream: String,
      collected: Collected,
      checkpoint: String,
      trigger: Trigger,
      options: (String, String)*
  ): StreamingQuery =
    readStream(stream, options: _*).load().writeStream
      .option("checkpointLocation", checkpoint)
      .trigger(trigger)
      .foreachBatch(collected.sink)
      .start()

  private val continuous = Trigger.ProcessingTime(0)

  test("reads every record of every shard once, with all columns") {
    kinesis.admin.createStream("all", 4)
    put("all", 0 until 2000)
    val collected = new Collected
    val query = start("all", collected, checkpoint(), continuous)
    await(query, "2000 rows")(collected.rows.size >= 2000)
    put("all", 2000 until 3000)
    await(query, "3000 rows")(collected.rows.size >= 3000)
    assert(collected.texts.map(_.toInt).sorted == (0 until 3000).toVector)
    val expected = kinesis.admin.shards("all").flatMap { shard =>
      kinesis.admin.records("all", shard.id.value).map(r =>
        (shard.id.value, r.sequenceNumber, r.partitionKey, new String(r.data), r.arrivalMillis)
      )
    }
    val got = collected.rows.map { row =>
      (
        row.getAs[String]("shardId"),
        row.getAs[String]("sequenceNumber"),
        row.getAs[String]("partitionKey"),
        new String(row.getAs[Array[Byte]]("data")),
        row.getAs[java.sql.Timestamp]("approximateArrivalTimestamp").getTime
      )
    }
    assert(got.sorted == expected.toVector.sorted)
    assert(collected.rows.map(_.getAs[String]("stream")).toSet == Set("all"))
    assert(collected.ids.size >= 2, "one batch before and one after the second part")
  }

  test("metadata columns can be named in a stream and in a batch") {
    kinesis.admin.createStream("meta", 1)
    put("meta", 0 until 10)
    val collected = new Collected
    val query = readStream("meta").load().select(
      "data",
      "aggregated",
      "subSequenceNumber",
      "encryptionType",
      "explicitHashKey",
      "shardId"
    ).writeStream
      .option("checkpointLocation", checkpoint()).foreachBatch(collected.sink).start()
    await(query, "10 rows")(collected.rows.size >= 10)
    assert(
      collected.rows.map(r => (r.getBoolean(1), r.getLong(2), r.isNullAt(3), r.isNullAt(4), r.getString(5))).toSet ==
        Set((false, 0L, true, true, "shardId-000000000000"))
    )
    val batch =
      spark.read.format("kinesis").options(connection("meta")).load().select("subSequenceNumber", "data", "aggregated")
    assert(batch.collect().map(r => (r.getLong(0), r.getBoolean(2))).toSet == Set((0L, false)))
  }

  test("a restart goes on after the last batch; a failed batch gets the same rows again") {
    kinesis.admin.createStream("restart", 3)
    put("restart", 0 until 500)
    val at = checkpoint()
    var attempts = Vector.empty[Vector[String]]
    val failing: (Dataset[Row], Long) => Unit = (rows, id) => {
      val texts =
        rows.collect().map(r => s"${r.getAs[String]("shardId")}/${r.getAs[String]("sequenceNumber")}").toVector.sorted
      if (id == 1) {
        synchronized(attempts :+= texts)
        if (attempts.size == 1) throw new IllegalStateException("on purpose")
      }
    }
    val first = readStream(
      "restart",
      "maxRecordsPerTrigger" -> "200"
    ).load().writeStream.option("checkpointLocation", at).foreachBatch(failing).start()
    intercept[Exception](first.awaitTermination(60000))
    put("restart", 500 until 900)
    val collected = new Collected
    val both: (Dataset[Row], Long) => Unit = (rows, id) => { failing(rows, id); collected.sink(rows, id) }
    val second = readStream("restart").load().writeStream.option("checkpointLocation", at).foreachBatch(both).start()
    await(second, "the rest")(collected.rows.size >= 700)
    assert(attempts.size == 2)
    assert(attempts(1) == attempts(0))
    assert(collected.ids.head == 1L)
  }

  test("two actions in one foreachBatch see the same rows") {
    kinesis.admin.createStream("twice", 2)
    put("twice", 0 until 300)
    var pairs = Vector.empty[(Seq[String], Seq[String])]
    var seen = 0
    val twice: (Dataset[Row], Long) => Unit = (rows, _) => {
      def look = rows.collect().map(_.getAs[String]("sequenceNumber")).toSeq.sorted
      val first = look
      put("twice", 1000 until 1050)
      synchronized {
        pairs :+= ((first, look))
        seen += first.size
      }
    }
    val query = readStream(
      "twice",
      "maxRecordsPerTrigger" -> "120"
    ).load().writeStream.option("checkpointLocation", checkpoint()).foreachBatch(twice).start()
    await(query, "500 rows")(seen >= 500)
    query.stop()
    pairs.foreach { case (first, second) => assert(second == first) }
  }

  test("an idle stream runs no batch and is asked at its pace only") {
    kinesis.admin.createStream("idle", 2)
    put("idle", 0 until 10)
    val collected = new Collected
    val query = start("idle", collected, checkpoint(), continuous, "minFetchPeriod" -> "250ms")
    await(query, "10 rows")(collected.rows.size >= 10)
    val batches = collected.ids.size
    def calls = kinesis.calls.count(operation = "GetRecords", stream = "idle", shard = "shardId-000000000000")
    val (before, since) = (calls, System.nanoTime())
    await(query, "9 polls")(calls >= before + 9)
    val seconds = (System.nanoTime() - since) / 1e9
    assert(collected.ids.size == batches)
    // The first of the nine may have come at once, and late by up to a period on a busy machine.
    assert(seconds >= 7 * 0.25, s"9 calls took $seconds s")
    assert(kinesis.calls.count(operation = "GetShardIterator", stream = "idle") == 2L)
  }

  test("a stream without a record runs no batch at all") {
    kinesis.admin.createStream("empty", 2)
    val collected = new Collected
    val query = start("empty", collected, checkpoint(), continuous)
    await(query, "polls of both shards")(kinesis.calls.count(operation = "GetRecords", stream = "empty") >= 10)
    assert(collected.ids == Vector.empty[Long])
  }

  test(
    "latest begins where the stream was when the query first started, also when it was stopped before its first batch"
  ) {
    kinesis.admin.createStream("latest", 2)
    put("latest", 0 until 50)
    // Arrival times are milliseconds: what is to be left out must be older than the query.
    val after = System.currentTimeMillis()
    while (System.currentTimeMillis() <= after) Thread.onSpinWait()
    val at = checkpoint()
    val nothing = new Collected
    val first = start("latest", nothing, at, continuous, "initialPosition" -> "latest")
    await(
      first,
      "its initial offset"
    )(java.nio.file.Files.exists(java.nio.file.Path.of(at, "sources", "0", "initial-offset")))
    first.stop()
    put("latest", 50 until 80)
    val collected = new Collected
    val second = start("latest", collected, at, continuous, "initialPosition" -> "latest")
    await(second, "30 rows")(collected.rows.size >= 30)
    assert((nothing.texts ++ collected.texts).map(_.toInt).sorted == (50 until 80).toVector)
  }

  test("read limits bound each batch and lose nothing") {
    kinesis.admin.createStream("limits", 4)
    put("limits", 0 until 1000)
    val collected = new Collected
    val query = start("limits", collected, checkpoint(), continuous, "maxRecordsPerTrigger" -> "100")
    await(query, "1000 rows")(collected.rows.size >= 1000)
    assert(collected.byBatch.forall(_.size <= 100), collected.byBatch.map(_.size).toString)
    assert(collected.texts.map(_.toInt).sorted == (0 until 1000).toVector)
    val bytes = new Collected
    val second = start("limits", bytes, checkpoint(), continuous, "maxBytesPerTrigger" -> "1k")
    await(second, "1000 rows")(bytes.rows.size >= 1000)
    assert(bytes.byBatch.forall(rows =>
      rows.map(r => r.getAs[Array[Byte]]("data").length + r.getAs[String]("partitionKey").length).sum <= 1024
    ))
  }

  test("a minimum of records holds a batch back until it is reached, or the delay has passed") {
    kinesis.admin.createStream("minimum", 2)
    put("minimum", 0 until 40)
    val collected = new Collected
    val query =
      start("minimum", collected, checkpoint(), continuous, "minRecordsPerTrigger" -> "100", "maxTriggerDelay" -> "1h")
    await(query, "two polls")(kinesis.calls.count(operation = "GetRecords", stream = "minimum") >= 6)
    assert(collected.rows.size == 0)
    put("minimum", 40 until 120)
    await(query, "120 rows")(collected.rows.size >= 120)
    query.stop()
    val delayed = new Collected
    val second = start(
      "minimum",
      delayed,
      checkpoint(),
      continuous,
      "minRecordsPerTrigger" -> "100000",
      "maxTriggerDelay" -> "500ms"
    )
    await(second, "all rows after the delay")(delayed.rows.size >= 120)
  }

  test("a full buffer is enough for any minimum, and what is finished is dropped before the next batch is planned") {
    kinesis.admin.createStream("full", 2)
    val payload = "x" * 2000
    (0 until 6000).foreach(i => kinesis.admin.putRecord("full", s"k$i", utf8(s"$i $payload")))
    val collected = new Collected
    val query = start(
      "full",
      collected,
      checkpoint(),
      continuous,
      "minRecordsPerTrigger" -> "1000000",
      "maxTriggerDelay" -> "1h",
      "fetchBufferSize" -> "1m",
      "maxRecordsPerFetch" -> "100"
    )
    await(query, "what does not fit the buffer at once")(collected.rows.size >= 4500)
    assert(collected.texts.map(_.takeWhile(_ != ' ').toInt).distinct.size == collected.rows.size)
    assert(collected.ids.size > 3, s"${collected.ids.size} batches")
  }

  test("available-now drains what is there, over several batches, and ends") {
    kinesis.admin.createStream("now", 3)
    put("now", 0 until 700)
    val at = checkpoint()
    val collected = new Collected
    val query = start("now", collected, at, Trigger.AvailableNow(), "maxRecordsPerTrigger" -> "250")
    assert(query.awaitTermination(60000))
    assert(collected.texts.map(_.toInt).sorted == (0 until 700).toVector)
    assert(collected.ids.size >= 3, collected.ids.toString)
    put("now", 700 until 800)
    val second = new Collected
    assert(start("now", second, at, Trigger.AvailableNow()).awaitTermination(60000))
    assert(second.texts.map(_.toInt).sorted == (700 until 800).toVector)
    val third = new Collected
    assert(start("now", third, at, Trigger.AvailableNow()).awaitTermination(60000))
    assert(third.ids == Vector.empty[Long])
  }

  test("once takes everything in one batch, also what the buffer cannot hold") {
    kinesis.admin.createStream("once", 2)
    val payload = "x" * 2000
    (0 until 3000).foreach(i => kinesis.admin.putRecord("once", s"k$i", utf8(s"$i $payload")))
    val collected = new Collected
    @annotation.nowarn("cat=deprecation")
    val once = Trigger.Once()
    val query = start("once", collected, checkpoint(), once, "fetchBufferSize" -> "1m", "maxRecordsPerFetch" -> "100")
    assert(query.awaitTermination(60000))
    assert(collected.byBatch.map(_.size) == Vector(3000))
  }
}
