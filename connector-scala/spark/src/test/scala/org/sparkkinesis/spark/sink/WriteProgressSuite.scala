package org.sparkkinesis.spark.sink

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.event.WriteSummary
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.sink.SinkMetrics
import org.sparkkinesis.sink.kinesis.{PacedRate, ShardCounts}
import org.sparkkinesis.spark.write.KinesisSink
import org.sparkkinesis.suite.TimedSuite

class WriteProgressSuite extends TimedSuite {
  private def written(records: Long) = WriteCounts(
    SinkMetrics(entriesOut = records, bytesOut = records * 10, requests = 2, throttled = 3, retried = 4)
  )

  private def paced(rate: (Int, Double)) = PacedRate(StreamShard("orders", ShardId.ofIndex(rate._1)), rate._2)

  test("a streaming query has a summary after its first micro-batch and then every five minutes") {
    val time = new VirtualScheduler
    val progress = KinesisSink.newProgress(time)
    time.advance(2.seconds)
    assert(progress.committed(written(100), isStreaming = true) ==
      Some(WriteSummary(Some(1), 100, 1000, 2, 3, 4, 2000)))
    time.advance(1.minute)
    assert(progress.committed(written(10), isStreaming = true) == None)
    time.advance(4.minutes)
    assert(progress.committed(written(5), isStreaming = true) ==
      Some(WriteSummary(Some(2), 15, 150, 4, 6, 8, 300000)))
    assert(progress.committed(written(1), isStreaming = true) == None)
  }

  test("every batch write has a summary without micro-batches") {
    val time = new VirtualScheduler
    val progress = KinesisSink.newProgress(time)
    assert(progress.committed(written(1), isStreaming = false) == Some(WriteSummary(None, 1, 10, 2, 3, 4, 0)))
    time.advance(1.second)
    assert(progress.committed(written(2), isStreaming = false) == Some(WriteSummary(None, 2, 20, 2, 3, 4, 1000)))
  }

  test("limits are not summed over tasks") {
    def task(limit: Double, rates: (Int, Double)*) = WriteCounts(
      SinkMetrics(currentLimit = limit, maxBatchSize = 10),
      shards = ShardCounts(pacedShards = rates.size, slowestShards = ShardCounts.slowest(rates.map(paced)))
    )
    val tasks = Seq(task(500, 3 -> 900, 1 -> 800), task(700, 1 -> 950), task(0))
    val progress = KinesisSink.newProgress(new VirtualScheduler)
    progress.committed(tasks.reduce(_ + _), isStreaming = true)
    val expected =
      Map("currentLimit" -> "700", "maxBatchSizeNow" -> "10", "pacedShards" -> "2", "lowestShardRate" -> "800")
    expected.foreach { case (name, value) => assert(progress.metrics.get(name) == value, name) }
    expected.foreach { case (name, value) =>
      val metric = KinesisSink.metrics.find(_.name == name).get
      assert(metric.aggregateTaskMetrics(tasks.map(metric.of).toArray) == value, name)
    }
  }

  test("the progress names the five slowest shards of all tasks with their rates") {
    val tasks = Seq(Seq(6 -> 600.4, 1 -> 990.0), Seq(1 -> 100.0, 2 -> 200.0, 3 -> 300.0), Seq(4 -> 400.0, 5 -> 500.0))
      .map(rates => WriteCounts(shards = ShardCounts(slowestShards = ShardCounts.slowest(rates.map(paced)))))
    val progress = KinesisSink.newProgress(new VirtualScheduler)
    progress.committed(tasks.reduce(_ + _), isStreaming = true)
    val expected = (1 to 5).map(i => s"orders/${ShardId.ofIndex(i)}: ${i}00 records/s").mkString("; ")
    assert(progress.metrics.get("slowestShards") == expected)
    progress.committed(written(1), isStreaming = true)
    assert(progress.metrics.get("slowestShards") == null, "no shard has a rate")
  }

  test("the metrics have the last batch and the totals") {
    val progress = KinesisSink.newProgress(new VirtualScheduler)
    progress.committed(written(5), isStreaming = true)
    progress.committed(written(7), isStreaming = true)
    assert(progress.metrics.get("recordsOut") == "7")
    assert(progress.metrics.get("totalRecordsOut") == "12")
  }
}
