package org.sparkkinesis.spark.sink

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.event.WriteSummary
import org.sparkkinesis.sink.SinkMetrics
import org.sparkkinesis.sink.kinesis.ShardCounts
import org.sparkkinesis.spark.write.KinesisSink
import org.sparkkinesis.suite.TimedSuite

class WriteProgressSuite extends TimedSuite {
  private def written(records: Long) = WriteCounts(
    SinkMetrics(entriesOut = records, bytesOut = records * 10, requests = 2, throttled = 3, retried = 4)
  )

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
    def task(limit: Double, paced: Int, rate: Double) =
      WriteCounts(SinkMetrics(currentLimit = limit, maxBatchSize = 10), shards = ShardCounts(0, 0, paced, rate))
    val tasks = Seq(task(500, 2, 800), task(700, 1, 950), task(0, 0, Double.PositiveInfinity))
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

  test("the metrics have the last batch and the totals") {
    val progress = KinesisSink.newProgress(new VirtualScheduler)
    progress.committed(written(5), isStreaming = true)
    progress.committed(written(7), isStreaming = true)
    assert(progress.metrics.get("recordsOut") == "7")
    assert(progress.metrics.get("totalRecordsOut") == "12")
  }
}
