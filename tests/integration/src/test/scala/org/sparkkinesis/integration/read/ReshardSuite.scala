package org.sparkkinesis.integration.read

import org.sparkkinesis.emulator.fault.FaultEffect
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.StreamRun.shardId
import org.sparkkinesis.kit.stream._

/** Shards are split and merged while they are read: no record is lost, and the records of each key stay in order. */
class ReshardSuite extends SparkSuite {
  test("children of a split and of a merge are read after their parents, and no record is lost") {
    testStream("reshard", 2)(
      PutRecords(0 until 300),
      StartStream(options = Map("maxRecordsPerTrigger" -> "50")),
      AwaitRows(1),
      Split(0),
      PutRecords(300 until 600),
      AwaitRows(400),
      StopStream,
      Merge(3, 1),
      PutRecords(600 until 900),
      StartStream(),
      CheckRows(0 until 900),
      CheckKeyOrder
    )
  }

  Seq(
    ("polling", "GetRecords", Seq("retry.getRecords.backoff.max" -> "100ms")),
    ("fan-out", "SubscribeToShard", Seq("consumerMode" -> "efo", "consumerName" -> "etl"))
  ).foreach { case (name, operation, options) =>
    test(s"the child of a merge waits for a parent that is not known yet ($name)") {
      var listings = 0L
      // No periodic listing shows the shards in between.
      testStream(s"behind-$name", 2, options :+ ("shardFetchInterval" -> "1h"): _*)(
        PutRecords(0 until 300),
        AddFault(FaultEffect.Error(503, "ServiceUnavailable", "by request"), operation, shard = Some(1)),
        StartStream(),
        AwaitRows(1),
        AwaitFault(1),
        Execute("remember the listings")(run => listings = run.calls("ListShards")),
        Split(1),
        Merge(0, 2),
        PutRecords(300 until 600),
        // The end of shard 0 names shard 4, the child of 0 and 2. Only a listing shows that 2 descends from 1, which
        // is far behind.
        Await("a listing, or the child") { run =>
          run.calls("ListShards") > listings || run.collected.rows.exists(_.getAs[String]("shardId") == shardId(4))
        },
        ClearFaults,
        CheckRows(0 until 600),
        CheckKeyOrder
      )
    }
  }

  private val hasty = Seq("retry.listShards.backoff.base" -> "1ms", "retry.listShards.backoff.max" -> "10ms")

  test("a shard that is missing from the first listings is read") {
    testStream("hole", 3, hasty: _*)(
      PutRecords(0 until 300),
      AddFault(FaultEffect.LeaveOut, "ListShards", shard = Some(1), count = 3),
      StartStream(),
      CheckRows(0 until 300),
      CheckKeyOrder,
      Execute("three listings lacked it")(run => assert(run.hits(0) == 3))
    )
  }

  test("a shard that is missing from every listing ends the query before it reads, unless loss is allowed") {
    testStream("lacking", 2, hasty: _*)(
      PutRecords(0 until 100),
      AddFault(FaultEffect.LeaveOut, "ListShards", shard = Some(1)),
      StartStream(),
      ExpectFailure("KINESIS_LISTING_INCOMPLETE"),
      CheckRowsNow(Nil),
      Execute("a batch read is an error too, unless loss is allowed") { _ =>
        val batch = spark.read.format("kinesis").options(connection("lacking") ++ hasty)
        assert(intercept[KinesisConnectorException](batch.load().collect()).condition == "KINESIS_LISTING_INCOMPLETE")
        val held = kinesis.admin.records("lacking", shardId(0)).size.toLong
        assert(batch.option("failOnDataLoss", "false").load().count() == held)
      }
    )
  }
}
