package org.sparkkinesis.integration

import org.sparkkinesis.kit.stream._

/** Tests the messages of failed stream tests. */
class StreamTestsSuite extends SparkSuite {
  test("a failure names the action, those before and after it, and what the query and the service counted") {
    val failure = intercept[StreamTestFailure] {
      testStream("failing", 1)(
        PutRecords(0 until 3),
        StartStream(),
        ProcessAllAvailable,
        CheckRowsNow(0 until 4),
        StopStream
      )
    }
    val text = failure.getMessage
    assert(text.startsWith("Action 4 of 5 on stream failing failed, CheckRowsNow(Range 0 until 4): "), text)
    Seq(
      "missing: 3; not expected: ",
      "  done     1. PutRecords(Range 0 until 3,None)\n",
      "  done     3. ProcessAllAvailable\n",
      "  FAILED   4. CheckRowsNow(Range 0 until 4)\n",
      "  not run  5. StopStream\n",
      "Query: active",
      "Its last progress: {",
      "Rows: 3 in the batches 0",
      "GetShardIterator 1"
    ).foreach(part => assert(text.contains(part), text))
  }

  test("the failure of a query ends the wait for its rows") {
    val failure = intercept[StreamTestFailure] {
      testStream("ending", 1)(
        PutRecords(0 until 3),
        StartStream(onBatch = (_, _) => throw new IllegalStateException("on purpose")),
        AwaitRows(3)
      )
    }
    assert(failure.getMessage.contains("AwaitRows(3)") && failure.getMessage.contains("on purpose"))
  }

  test("an unmet expected condition fails with the actual condition") {
    val failure = intercept[StreamTestFailure] {
      testStream("other", 1)(
        StartStream(),
        Execute("delete the stream")(run => kinesis.admin.deleteStream(run.stream)),
        ExpectFailure("KINESIS_ACCESS_DENIED")
      )
    }
    assert(failure.getMessage.contains("the query failed with KINESIS_STREAM_NOT_FOUND"), failure.getMessage)
  }
}
