package org.sparkkinesis.metric

import org.sparkkinesis.event._
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.service.Operation
import org.sparkkinesis.suite.TimedSuite

class ConsumerHealthSuite extends TimedSuite {
  private def shard(index: Int) = StreamShard("orders", ShardId.ofIndex(index.toLong))

  test("throttled calls are counted by shard and operation, and the greatest numbers are reported") {
    val metrics = new ConsumerMetrics
    (1 to 12).foreach { index =>
      (1 to index).foreach(_ => metrics.emit(CallThrottled("orders", Some(shard(index).shard), Operation.GetRecords)))
    }
    metrics.emit(CallThrottled("orders", Some(shard(12).shard), Operation.GetShardIterator))
    assert(metrics.throttles.sum == 79)
    val found = metrics.mostThrottled
    assert(found.size == ConsumerHealth.MaxThrottled)
    assert(found.head == ThrottledCalls("orders", Some(shard(12).shard), Operation.GetRecords, 12))
    assert(found.map(_.calls) == (12 to 3 by -1).map(_.toLong))
  }

  test("the slowdown of polling is that of the slowest shard, until the shard has recovered or is not read any more") {
    val metrics = new ConsumerMetrics
    assert(metrics.pollingSlowdown == 1)
    metrics.polled(shard(0), 2.5)
    metrics.polled(shard(1), 4)
    assert(metrics.pollingSlowdown == 4)
    metrics.left(shard(1))
    assert(metrics.pollingSlowdown == 2.5)
    metrics.polled(shard(0), 1)
    assert(metrics.pollingSlowdown == 1)
  }

  test("an outage of an executor in the driver's process is not reported twice") {
    val outage = OngoingOutage("orders", 1, 1000, "no answer")
    assert(new OutageWatch("driver").accept(Seq(outage)).isEmpty)
    assert(new OutageWatch("1").accept(Seq(outage)) == Seq(ExecutorOutageBegan("orders", "1", 1, "no answer")))
  }

  test("outages of several streams begin and end independently") {
    val watch = new OutageWatch("1")
    val (a, b) = (OngoingOutage("a", 1, 1000, "x"), OngoingOutage("b", 2, 2000, "y"))
    assert(watch.accept(Seq(a)) == Seq(ExecutorOutageBegan("a", "1", 1, "x")))
    assert(watch.accept(Seq(a, b)) == Seq(ExecutorOutageBegan("b", "1", 2, "y")))
    assert(watch.accept(Seq(b)) == Seq(ExecutorOutageEnded("a", "1", 1000)))
    assert(watch.accept(Nil) == Seq(ExecutorOutageEnded("b", "1", 2000)))
  }
}
