package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.scalactic.Tolerance._

import org.sparkkinesis.suite.TimedSuite

class RateLimitingSuite extends TimedSuite {
  private def context(shards: Int = 4) = RateLimitingContext(500, 50, () => shards, 1000)
  private def clean(sent: Int) = RequestOutcome(sent, sent, 0, 0)

  test("AIMD starts with one request in flight and doubles until the first throttling") {
    val strategy = new AimdRateLimiting(context())
    val limit = strategy.open()
    assert(limit.acquire(500, 0) == Permit.grant(500))
    assert(limit.acquire(500, 0) == Permit.WaitForAnswer)
    limit.settled(clean(500), 0)
    assert(strategy.currentLimit == 1000.0)
  }

  test("AIMD adds ten entries per successful request and subtracts one percent per failed one") {
    val strategy = new AimdRateLimiting(context())
    val limit = strategy.open()
    limit.acquire(500, 0)
    limit.settled(RequestOutcome(500, 500, 1, 0), 0)
    assert(strategy.currentLimit == 495.0)
    limit.acquire(100, 0)
    limit.settled(clean(100), 0)
    assert(strategy.currentLimit == 505.0)
    (1 to 5000).foreach { _ => limit.acquire(10, 0); limit.settled(clean(10), 0) }
    assert(strategy.currentLimit == 25000.0)
    (1 to 5000).foreach { _ => limit.acquire(10, 0); limit.settled(RequestOutcome(10, 10, 0, 10), 0) }
    assert(strategy.currentLimit == 1.0)
  }

  test("AIMD reports its first reduction, and when the limit has halved or doubled") {
    val changes = scala.collection.mutable.ArrayBuffer.empty[(Long, Long)]
    val strategy = new AimdRateLimiting(new RateLimitingContext(
      500,
      4,
      () => 4,
      () => 1000,
      (before, now) => changes += before.round -> now.round
    ))
    val limit = strategy.open()
    def settle(outcome: RequestOutcome): Unit = {
      limit.acquire(outcome.granted, 0)
      limit.settled(outcome, 0)
    }
    settle(clean(500))
    assert(changes == Seq(500L -> 1000L))
    settle(RequestOutcome(500, 500, 500, 0))
    assert(changes.last == (1000L -> 990L))
    (1 to 68).foreach(_ => settle(RequestOutcome(10, 10, 10, 0)))
    assert(changes.size == 2)
    settle(RequestOutcome(10, 10, 10, 0))
    assert(changes.last == (990L -> 495L))
    (1 to 50).foreach(_ => settle(clean(10)))
    assert(changes.last == (495L -> 995L))
  }

  test(
    "writers share the AIMD limit, but a writer without requests in flight may always send"
  ) {
    val strategy = new AimdRateLimiting(context())
    val (first, second) = (strategy.open(), strategy.open())
    first.acquire(500, 0)
    assert(second.acquire(500, 0) == Permit.grant(500))
    assert(second.acquire(500, 0) == Permit.WaitForAnswer)
    first.close()
    second.settled(clean(500), 0)
    assert(second.acquire(500, 0) == Permit.grant(500))
    assert(second.acquire(500, 0) == Permit.grant(500))
  }

  test(
    "batch-and-delay sends the capacity of the shards in the shortest pause, shared by the writers, from 10 to 500"
  ) {
    val cases = Seq((0, 1, 10), (1, 1, 100), (4, 1, 400), (4, 2, 200), (100, 1, 500), (1, 50, 10))
    cases.foreach { case (shards, writers, expected) =>
      val strategy = new BatchAndDelayRateLimiting(context(shards))
      val limits = (1 to writers).map(_ => strategy.open())
      assert(limits.head.maxBatchSize == expected, s"$shards shards, $writers writers")
    }
  }

  test("batch-and-delay uses the capacity of a shard for aggregated records") {
    // A shard accepts 8,192 aggregated records of 128 bytes per second, but only 1,000 plain records.
    var perShard = 1000
    val strategy = new BatchAndDelayRateLimiting(new RateLimitingContext(50000, 50, () => 4, () => perShard))
    assert(strategy.open().maxBatchSize == 400)
    val sizes = new org.sparkkinesis.sink.kinesis.MeanSize
    assert(sizes.perSecond == 1000)
    (1 to 1000).foreach(_ => sizes.saw(128))
    perShard = sizes.perSecond
    assert(perShard == 8192)
    assert(strategy.open().maxBatchSize == 3276 / 2)
  }

  test("the pause of batch-and-delay grows quickly when throttled and shrinks slowly, from 100 ms to 10 s") {
    val strategy = new BatchAndDelayRateLimiting(context())
    val limit = strategy.open()
    assert(limit.acquire(500, 0) == Permit.grant(400))
    assert(limit.acquire(500, 0) == Permit.waitFor(100.millis.toNanos))
    limit.settled(RequestOutcome(400, 400, 1, 0), 0)
    assert(strategy.currentLimit === 158.5 +- 0.1)
    assert(limit.acquire(500, 100.millis.toNanos).entries == 0)
    limit.settled(clean(400), 0)
    assert(strategy.currentLimit === 151.4 +- 0.1)
    (1 to 20).foreach(_ => limit.settled(RequestOutcome(400, 400, 400, 0), 0))
    assert(strategy.currentLimit === 10000.0 +- 0.1)
    (1 to 99).foreach(_ => limit.settled(clean(400), 0))
    assert(strategy.currentLimit > 100.0)
    limit.settled(clean(400), 0)
    assert(strategy.currentLimit === 100.0 +- 0.1)
  }
}
