package org.sparkkinesis.integration.fault

import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{Dataset, Row}

import org.sparkkinesis.emulator.fault.FaultEffect
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._

/** Nine faults that were measured in other connectors. Each test fails if this connector has the fault. */
class PeerFaultsSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "etl")

  test("1. a batch waits neither for an idle shard nor for one that does not answer") {
    testStream("prompt", 2)(
      AddFault(FaultEffect.Silence, "GetRecords", shard = Some(1)),
      PutRecords(0 until 500, explicitHashKey = Some("0")),
      StartStream(),
      AwaitFault(1),
      CheckRows(0 until 500),
      ClearFaults
    )
  }

  test("2. without new records no batch runs") {
    var (batches, polls) = (0, 0L)
    testStream("idle", 2)(
      PutRecords(0 until 10),
      StartStream(),
      CheckRows(0 until 10),
      Execute("remember batches and polls") { run =>
        batches = run.collected.ids.size
        polls = run.calls("GetRecords")
      },
      Await("further polls")(_.calls("GetRecords") >= polls + 20),
      Execute("no further batch")(run => assert(run.collected.ids.size == batches))
    )
  }

  test("3. a subscription is kept across batches") {
    val rounds = (0 until 10).flatMap { round =>
      Seq(PutRecords(100 * round until 100 * (round + 1)), AwaitRows(100 * (round + 1)))
    }
    testStream("kept", 1, efo: _*)(
      StartStream() +: rounds :+
        Execute("each round was a batch or more")(run => assert(run.collected.ids.size >= 10)) :+
        CheckCalls("SubscribeToShard" -> 1L): _*
    )
  }

  Seq("polling" -> Nil, "fan-out" -> efo).foreach { case (mode, options) =>
    val suffix = mode.take(3)

    test(s"4. a shard that was split before the query started is read to its end: $mode") {
      testStream(s"closed-$suffix", 1, options: _*)(
        PutRecords(0 until 100),
        Split(0),
        PutRecords(100 until 400),
        StartStream(Trigger.AvailableNow()),
        AwaitEnd,
        CheckRowsNow(0 until 400)
      )
    }

    test(s"5. a split while the query runs loses no record: $mode") {
      testStream(s"live-$suffix", 1, options: _*)(
        PutRecords(0 until 300),
        StartStream(),
        AwaitRows(1),
        Split(0),
        PutRecords(300 until 1100),
        CheckRows(0 until 1100)
      )
    }

    test(s"6. records that arrive in an idle shard while the query is stopped are read after the restart: $mode") {
      val top = ((BigInt(1) << 128) - 1).toString
      testStream(s"quiet-$suffix", 2, options :+ ("initialPosition" -> "latest"): _*)(
        StartStream(),
        Await("its start")(_.hasInitialOffset),
        // Only the first shard gets records; the other one has never had any.
        PutRecords(Seq(0), explicitHashKey = Some("0")),
        CheckRows(Seq(0)),
        StopStream,
        PutRecords(1 to 100, explicitHashKey = Some(top)),
        StartStream(),
        CheckRows(0 to 100)
      )
    }
  }

  test("7. AvailableNow with a limit reads every record, in as many batches as needed") {
    testStream("now", 2, "maxRecordsPerTrigger" -> "200")(
      PutRecords(0 until 1000),
      StartStream(Trigger.AvailableNow()),
      AwaitEnd,
      CheckRowsNow(0 until 1000),
      Execute("no batch is above the limit")(run => assert(run.collected.byBatch.forall(_.size <= 200)))
    )
  }

  test("8. two actions in one foreachBatch read the same rows, even if records arrive between them") {
    var seen = Vector.empty[(Set[String], Set[String])]
    val twice: (Dataset[Row], Long) => Unit = (rows, _) => {
      def look() = rows.collect().map(Collected.text).toSet
      val first = look()
      (0 until 100).foreach(i =>
        kinesis.admin.putRecord("twice", s"key-$i", utf8((1000 + 100 * seen.size + i).toString))
      )
      val pair = (first, look())
      synchronized(seen :+= pair)
    }
    testStream("twice", 2)(
      PutRecords(0 until 300),
      StartStream(onBatch = twice),
      Await("three batches")(_ => synchronized(seen.size) >= 3),
      StopStream
    )
    seen.foreach { case (first, second) => assert(second == first) }
  }

  test("9. a pushed record does not wait for the polling period") {
    val rounds = (0 until 20).flatMap(i => Seq(PutRecords(Seq(i)), AwaitRows(i + 1)))
    testStream("woken", 1, efo :+ ("minFetchPeriod" -> "1h"): _*)(
      StartStream() +: rounds :+ CheckCalls("GetRecords" -> 0L): _*
    )
  }
}
