package org.sparkkinesis.integration.read

import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{Dataset, Row}

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._
import org.sparkkinesis.spark.session.InitialOffsets

/** Micro-batch reading by polling. */
class MicroBatchSuite extends MicroBatchTests {
  test("an idle stream runs no batch and is polled once per period") {
    var (batches, polls, since) = (0, 0L, 0L)
    def pollsOfOne = kinesis.calls.count("GetRecords", "idle", StreamRun.shardId(0))
    testStream("idle", 2, "minFetchPeriod" -> "250ms")(
      PutRecords(0 until 10),
      StartStream(),
      CheckRows(0 until 10),
      Execute("remember batches and polls") { run =>
        batches = run.collected.ids.size
        since = System.nanoTime()
        polls = pollsOfOne
      },
      Await("9 polls")(_ => pollsOfOne >= polls + 9),
      Execute("no further batch, and the pace") { run =>
        val seconds = (System.nanoTime() - since) / 1e9
        assert(run.collected.ids.size == batches)
        // The first of the nine polls may have been due already, and on a busy machine up to one period late.
        assert(seconds >= 7 * 0.25, s"9 calls took $seconds s")
      },
      CheckCalls("GetShardIterator" -> 2L)
    )
  }
}

/** Micro-batch reading with enhanced fan-out. */
class FanOutMicroBatchSuite extends MicroBatchTests {
  override protected def fetchCall: String = "SubscribeToShard"

  override protected def readOptions(stream: String): Map[String, String] =
    super.readOptions(stream) ++ Map("consumerMode" -> "efo", "consumerName" -> "etl")
}

/** What a micro-batch query promises in either consumer mode. */
abstract class MicroBatchTests extends SparkSuite {

  /** The call that fetches records, which each shard of a running query makes at least once. */
  protected def fetchCall: String = "GetRecords"

  test("reads every record of every shard once, with all columns") {
    val run = testStream("all", 4)(
      PutRecords(0 until 2000),
      StartStream(),
      CheckRows(0 until 2000),
      PutRecords(2000 until 3000),
      CheckRows(0 until 3000),
      Execute("one batch before and one after the second part")(run => assert(run.collected.ids.size >= 2))
    )
    val expected = kinesis.admin.shards("all").flatMap { shard =>
      kinesis.admin.records("all", shard.id.value).map(r =>
        (shard.id.value, r.sequenceNumber, r.partitionKey, new String(r.data), r.arrivalMillis)
      )
    }
    val got = run.collected.rows.map { row =>
      (
        row.getAs[String]("shardId"),
        row.getAs[String]("sequenceNumber"),
        row.getAs[String]("partitionKey"),
        new String(row.getAs[Array[Byte]]("data")),
        row.getAs[java.sql.Timestamp]("approximateArrivalTimestamp").getTime
      )
    }
    assert(got.sorted == expected.toVector.sorted)
    assert(run.collected.rows.map(_.getAs[String]("stream")).toSet == Set("all"))
  }

  test("metadata columns can be named in a stream and in a batch") {
    val columns =
      Seq("aggregated", "subSequenceNumber", "encryptionType", "explicitHashKey", "shardId", "streamArn")
    val run = testStream("meta", 1)(
      PutRecords(0 until 10),
      StartStream(query = _.select("data", columns: _*)),
      CheckRows(0 until 10)
    )
    val rows = run.collected.rows
    assert(
      rows.map(r => (r.getBoolean(1), r.getLong(2), r.isNullAt(3), r.isNullAt(4), r.getString(5))).toSet ==
        Set((false, 0L, true, true, "shardId-000000000000"))
    )
    assert(rows.map(_.getString(6)).toSet == Set(run.arn))
    val batch =
      spark.read.format("kinesis").options(connection("meta")).load().select("subSequenceNumber", "data", "aggregated")
    assert(batch.collect().map(r => (r.getLong(0), r.getBoolean(2))).toSet == Set((0L, false)))
  }

  test("a restart continues after the last batch, and a failed batch gets the same rows again") {
    var attempts = Vector.empty[Vector[String]]
    val failing: (Dataset[Row], Long) => Unit = (rows, id) => {
      val texts =
        rows.collect().map(r => s"${r.getAs[String]("shardId")}/${r.getAs[String]("sequenceNumber")}").toVector.sorted
      if (id == 1) {
        synchronized(attempts :+= texts)
        if (attempts.size == 1) throw new IllegalStateException("on purpose")
      }
    }
    testStream("restart", 3)(
      PutRecords(0 until 500),
      StartStream(options = Map("maxRecordsPerTrigger" -> "200"), onBatch = failing),
      Execute("the second batch fails")(run => intercept[Exception](run.query.awaitTermination(60000))),
      Execute("only the first batch is collected")(run => assert(run.collected.ids == Vector(0L))),
      PutRecords(500 until 900),
      StartStream(onBatch = failing),
      CheckRows(0 until 900),
      Execute("the attempts had the same rows")(_ => assert(attempts.size == 2 && attempts(1) == attempts(0)))
    )
  }

  test("two actions in one foreachBatch read the same rows") {
    var pairs = Vector.empty[(Seq[String], Seq[String])]
    var seen = 0
    val twice: (Dataset[Row], Long) => Unit = (rows, _) => {
      def look = rows.collect().map(_.getAs[String]("sequenceNumber")).toSeq.sorted
      val first = look
      (1000 until 1050).foreach(i => kinesis.admin.putRecord("twice", s"key-$i", utf8(i.toString)))
      synchronized {
        pairs :+= ((first, look))
        seen += first.size
      }
    }
    testStream("twice", 2, "maxRecordsPerTrigger" -> "120")(
      PutRecords(0 until 300),
      StartStream(onBatch = twice),
      Await("500 rows")(_ => synchronized(seen) >= 500),
      StopStream
    )
    pairs.foreach { case (first, second) => assert(second == first) }
  }

  test("an empty stream runs no batch") {
    testStream("empty", 2)(
      StartStream(),
      AwaitCalls(fetchCall, 2),
      Execute("no batch")(run => assert(run.collected.ids.isEmpty))
    )
  }

  test(
    "latest is the time of the query's first start, even if the query stops before its first batch"
  ) {
    testStream("latest", 2, "initialPosition" -> "latest")(
      PutRecords(0 until 50),
      // The service tells its time in whole seconds, and arrival times are approximate, so records of the last second
      // before the start and of the tolerance may be read.
      Execute("wait until the records are older than that") { _ =>
        val end = System.currentTimeMillis() + 1000 + InitialOffsets.ArrivalTolerance.toMillis
        while (System.currentTimeMillis() <= end) Thread.onSpinWait()
      },
      StartStream(),
      Await("its initial offset")(_.hasInitialOffset),
      StopStream,
      PutRecords(50 until 80),
      StartStream(),
      CheckRows(50 until 80)
    )
  }

  test("read limits apply to each batch and lose no record") {
    testStream("rows", 4, "maxRecordsPerTrigger" -> "100")(
      PutRecords(0 until 1000),
      StartStream(),
      CheckRows(0 until 1000),
      Execute("no batch is above the limit")(run => assert(run.collected.byBatch.forall(_.size <= 100)))
    )
    def bytes(row: Row) = row.getAs[Array[Byte]]("data").length + row.getAs[String]("partitionKey").length
    testStream("bytes", 4, "maxBytesPerTrigger" -> "1k")(
      PutRecords(0 until 1000),
      StartStream(),
      CheckRows(0 until 1000),
      Execute("no batch is above the limit")(run => assert(run.collected.byBatch.forall(_.map(bytes).sum <= 1024)))
    )
  }

  test("a batch waits for the minimum number of records or the maximum delay") {
    testStream("minimum", 2, "minRecordsPerTrigger" -> "100", "maxTriggerDelay" -> "1h")(
      PutRecords(0 until 40),
      StartStream(),
      AwaitCalls(fetchCall, 2),
      CheckRowsNow(Nil),
      PutRecords(40 until 120),
      CheckRows(0 until 120)
    )
    testStream("delayed", 2, "minRecordsPerTrigger" -> "100000", "maxTriggerDelay" -> "500ms")(
      PutRecords(0 until 120),
      StartStream(),
      CheckRows(0 until 120)
    )
  }

  private val payload = "x" * 2000

  private def putLarge(count: Int) = Execute(s"put $count records of 2 kB") { run =>
    (0 until count).foreach(i => kinesis.admin.putRecord(run.stream, s"k$i", utf8(s"$i $payload")))
  }

  test("a full buffer satisfies any minimum, and finished records are dropped before the next batch") {
    testStream(
      "full",
      2,
      "minRecordsPerTrigger" -> "1000000",
      "maxTriggerDelay" -> "1h",
      "fetchBufferSize" -> "1m",
      "fetchDiskSize" -> "0",
      "maxRecordsPerFetch" -> "100"
    )(
      putLarge(6000),
      StartStream(),
      // These records do not fit the buffer at once.
      AwaitRows(4500),
      Execute("no row twice in several batches") { run =>
        val numbers = run.collected.texts.map(_.takeWhile(_ != ' ').toInt)
        assert(numbers.distinct.size == numbers.size)
        assert(run.collected.ids.size > 3)
      }
    )
  }

  test("AvailableNow reads every available record in several batches and ends") {
    testStream("now", 3, "maxRecordsPerTrigger" -> "250")(
      PutRecords(0 until 700),
      StartStream(Trigger.AvailableNow()),
      AwaitEnd,
      CheckRowsNow(0 until 700),
      Execute("several batches")(run => assert(run.collected.ids.size >= 3)),
      PutRecords(700 until 800),
      StartStream(Trigger.AvailableNow()),
      AwaitEnd,
      CheckRowsNow(0 until 800)
    )
  }

  test("AvailableNow without new records runs no batch") {
    var batches = 0
    testStream("nothing-new", 3)(
      PutRecords(0 until 100),
      StartStream(Trigger.AvailableNow()),
      AwaitEnd,
      Execute("remember the batches")(run => batches = run.collected.ids.size),
      StartStream(Trigger.AvailableNow()),
      AwaitEnd,
      Execute("no further batch")(run => assert(run.collected.ids.size == batches))
    )
  }

  for (disk <- Seq("64g", "0"))
    test(s"Once reads every record in one batch, even if the memory cannot hold them, with fetchDiskSize $disk") {
      @annotation.nowarn("cat=deprecation")
      val once = Trigger.Once()
      testStream(s"once-$disk", 2, "fetchBufferSize" -> "1m", "fetchDiskSize" -> disk, "maxRecordsPerFetch" -> "100")(
        putLarge(3000),
        StartStream(once),
        AwaitEnd,
        Execute("one batch") { run =>
          assert(run.collected.byBatch.map(_.size) == Vector(3000))
          assert(run.collected.texts.map(_.takeWhile(_ != ' ').toInt).toSet == (0 until 3000).toSet)
        }
      )
    }
}
