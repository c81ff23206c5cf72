package org.sparkkinesis.integration.read

import org.sparkkinesis.emulator.fault.FaultEffect
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._

/** Calls `processAllAvailable` right after the start, before any record is fetched. */
class FirstLookSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "first-look")

  Seq("polling" -> Nil, "efo" -> efo).foreach { case (mode, options) =>
    test(
      s"$mode: every record of the stream is processed, even of a slow shard, and after a restart"
    ) {
      testStream(s"first-$mode", 3, options: _*)(
        PutRecords(0 until 60),
        // The other shards' records form a batch before this shard answers.
        AddFault(FaultEffect.Delay(500), shard = Some(1), count = 2),
        StartStream(),
        ProcessAllAvailable,
        CheckRowsNow(0 until 60),
        StopStream,
        PutRecords(60 until 90),
        StartStream(),
        ProcessAllAvailable,
        CheckRowsNow(0 until 90)
      )
    }

    test(s"$mode: an empty stream has nothing to process") {
      testStream(s"nothing-$mode", 2, options: _*)(
        StartStream(),
        ProcessAllAvailable,
        Execute("no batch ran")(run => assert(run.collected.ids.isEmpty))
      )
    }
  }

  test("a fetched minimum of records is processed") {
    testStream("enough", 2, "minRecordsPerTrigger" -> "50", "maxTriggerDelay" -> "1h")(
      PutRecords(0 until 50),
      StartStream(),
      ProcessAllAvailable,
      CheckRowsNow(0 until 50)
    )
  }
}
