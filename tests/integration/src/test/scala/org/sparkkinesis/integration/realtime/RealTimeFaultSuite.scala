package org.sparkkinesis.integration.realtime

import java.util.concurrent.Semaphore

import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.emulator.fault.FaultEffect
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._

/** Outages of the service and slow sinks within the batches of a query in real-time mode. */
class RealTimeFaultSuite extends SparkSuite {
  private val unavailable = FaultEffect.Error(503, "ServiceUnavailable", "by request")

  override protected def settings: Map[String, String] =
    Map("spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms")

  /** Default retry settings with shorter pauses. */
  private val hasty = Seq("getRecords", "getShardIterator", "subscribeToShard").flatMap { operation =>
    Seq(s"retry.$operation.backoff.base" -> "1ms", s"retry.$operation.backoff.max" -> "10ms")
  }

  private val checkOneBatch =
    Execute("all rows came in the first batch")(run => assert(run.collected.ids == Vector(0L)))

  test("polling: a batch goes on after an outage that is longer than any number of retries") {
    testStream("polled", 2, hasty: _*)(
      StartForeach(),
      PutRecords(0 until 50),
      AwaitRows(50),
      AddFault(unavailable, "GetRecords"),
      PutRecords(50 until 100),
      AwaitFault(40),
      ClearFaults,
      AwaitRows(100),
      StopStream,
      CheckRowsNow(0 until 100),
      CheckStrictKeyOrder,
      checkOneBatch
    )
  }

  test("fan-out: a batch goes on after its subscriptions broke and new ones were refused for a while") {
    var next = 0
    def putMore(run: StreamRun): Unit = {
      run.put(next until next + 10)
      next += 10
    }
    testStream("pushed", 2, hasty ++ Seq("consumerMode" -> "efo", "consumerName" -> "live"): _*)(
      AddFault(FaultEffect.ResetAfter(5), "SubscribeToShard", count = 2),
      AddFault(unavailable, "SubscribeToShard"),
      StartForeach(),
      Await("refused subscriptions") { run =>
        putMore(run)
        run.hits(1) >= 20
      },
      Execute("both subscriptions broke")(run => assert(run.hits(0) == 2)),
      ClearFaults,
      Execute("put more records")(putMore),
      Await("all rows")(_.collected.rows.size >= next),
      StopStream,
      Execute("every record came once")(run => assert(run.collected.numbers == (0 until next))),
      CheckStrictKeyOrder,
      checkOneBatch
    )
  }

  test("a slow sink holds back the consumers, and no record is lost or repeated") {
    val (records, size, buffer) = (1500, 10000, 1 << 20)
    val (permits, looks) = (new Semaphore(0), Iterator.from(0))
    def metric(run: StreamRun, name: String): Long = run.metric(name).fold(0L)(_.toLong)
    testStream("slow", 2, "fetchBufferSize" -> "1m", "maxRecordsPerFetch" -> "20")(
      Execute(s"put $records records of $size bytes")(run =>
        (0 until records).foreach { n =>
          val data = utf8(n.toString.padTo(size, ' '))
          kinesis.admin.putRecord(run.stream, StreamRun.partitionKey(n), null, data)
        }
      ),
      StartForeach(Trigger.RealTime("1 second"), beforeRow = () => permits.acquire()),
      Execute("for five batches, the consumers fetch only what their buffer holds") { run =>
        val held = (1 to 5).map { _ =>
          val batch = Option(run.query.lastProgress).fold(-1L)(_.batchId)
          run.await("the next batch") {
            // Each task hands over a row now and then, so that batches end.
            if (looks.next() % 20 == 0) permits.release(2)
            Option(run.query.lastProgress).exists(_.batchId > batch)
          }
          metric(run, "bufferedBytes")
        }
        assert(metric(run, "records") < records / 2, "the consumers fetched what the sink could not take")
        assert(held.max > 0 && held.max <= buffer + 2 * 20 * size * 3 / 2, held)
      },
      Execute("let the sink take all rows")(_ => permits.release(10 * records)),
      AwaitRows(records),
      StopStream,
      // A row of the batch that `StopStream` ended does not come again, because the query is not started again.
      CheckRowsNow(0 until records),
      CheckStrictKeyOrder
    )
  }
}
