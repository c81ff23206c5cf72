package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.scalactic.Tolerance._

import org.sparkkinesis.config.Options
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
      onLimitChange = (before, now) => changes += before.round -> now.round
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

  private def parameters(options: (String, String)*) = RateLimitingParameters.of(Options.read(options.toMap))

  private def withParameters(senders: Int, options: (String, String)*) =
    new RateLimitingContext(500, 50, () => 4, () => 1000, parameters(options: _*), () => senders)

  test("AIMD reports no change where the limit stays the same") {
    var changes = 0
    val strategy = new AimdRateLimiting(
      new RateLimitingContext(1, 1, () => 1, () => 1000, onLimitChange = (_, _) => changes += 1)
    )
    val limit = strategy.open()
    (1 to 10).foreach { _ =>
      limit.acquire(1, 0)
      limit.settled(RequestOutcome(1, 1, 1, 0), 0)
    }
    assert((strategy.currentLimit, changes) == (1.0, 0))
  }

  test("the parameters of AIMD are options") {
    val strategy = new AimdRateLimiting(withParameters(
      1,
      "rateLimiting.aimd.increase" -> "50",
      "rateLimiting.aimd.decrease" -> "0.5",
      "rateLimiting.aimd.min" -> "20",
      "rateLimiting.aimd.max" -> "300"
    ))
    val limit = strategy.open()
    assert(strategy.currentLimit == 300.0)
    def settle(outcome: RequestOutcome): Double = {
      limit.acquire(outcome.granted, 0)
      limit.settled(outcome, 0)
      strategy.currentLimit
    }
    val refused = RequestOutcome(10, 10, 1, 0)
    assert(Seq.fill(5)(settle(refused)) == Seq(150.0, 75.0, 37.5, 20.0, 20.0))
    assert(Seq.fill(6)(settle(clean(10))) == Seq(70.0, 120.0, 170.0, 220.0, 270.0, 300.0))
  }

  test("AIMD leaves throttling to the lanes that are paced because of it") {
    val strategy = new AimdRateLimiting(context())
    val limit = strategy.open()
    limit.acquire(500, 0)
    limit.settled(RequestOutcome(500, 500, 200, 0, paced = 200), 0)
    assert(strategy.currentLimit == 1000.0)
    limit.acquire(500, 0)
    limit.settled(RequestOutcome(500, 500, 200, 0, paced = 199), 0)
    assert(strategy.currentLimit == 990.0)
  }

  test("the parameters of a class of the user are in its context, with any case of their names") {
    val custom = new RateLimitingContext(500, 50, () => 4, () => 1000, parameters("rateLimiting.param.myStep" -> "7"))
    assert(custom.parameter("MyStep").contains("7"))
    assert(custom.parameter("other").isEmpty)
  }

  private val throttling = RequestOutcome(400, 400, 1, 0)

  test("batch-and-delay neither limits nor pauses until the first throttling") {
    val strategy = new BatchAndDelayRateLimiting(context())
    val limit = strategy.open()
    (1 to 100).foreach { _ =>
      assert(limit.acquire(500, 0) == Permit.grant(500))
      limit.settled(clean(500), 0)
    }
    assert((strategy.currentLimit, limit.maxBatchSize) == (0.0, 500))
  }

  test("throttled batch-and-delay sends the capacity of the shards in the shortest pause, shared by all senders") {
    // Shards, writers in this process, senders in all processes, entries per request.
    val cases = Seq((0, 1, 1, 10), (1, 1, 1, 100), (4, 1, 1, 400), (4, 2, 1, 200), (4, 2, 8, 50), (100, 1, 1, 500))
    cases.foreach { case (shards, writers, senders, expected) =>
      val strategy = new BatchAndDelayRateLimiting(
        new RateLimitingContext(500, 50, () => shards, () => 1000, senders = () => senders)
      )
      val limits = (1 to writers).map(_ => strategy.open())
      limits.head.settled(throttling, 0)
      assert(limits.head.maxBatchSize == expected, s"$shards shards, $writers writers, $senders senders")
    }
  }

  test("batch-and-delay uses the capacity of a shard for aggregated records") {
    // A shard accepts 8,192 aggregated records of 128 bytes per second, but only 1,000 plain records.
    var perShard = 1000
    val strategy = new BatchAndDelayRateLimiting(new RateLimitingContext(50000, 50, () => 4, () => perShard))
    val limit = strategy.open()
    limit.settled(throttling, 0)
    assert(limit.maxBatchSize == 400)
    val sizes = new org.sparkkinesis.sink.kinesis.MeanSize
    assert(sizes.perSecond == 1000)
    (1 to 1000).foreach(_ => sizes.saw(128))
    perShard = sizes.perSecond
    assert(perShard == 8192)
    assert(strategy.open().maxBatchSize == 3276 / 2)
  }

  test("the pause of batch-and-delay grows while throttling goes on, shrinks slowly, and ends") {
    val strategy = new BatchAndDelayRateLimiting(context())
    val limit = strategy.open()
    var now = 0L
    def settle(outcome: RequestOutcome, after: FiniteDuration): Double = {
      val sentAt = now
      now += after.toNanos
      limit.settled(outcome.copy(sentAtNanos = sentAt), now)
      strategy.currentLimit
    }
    assert(settle(throttling, 20.millis) === 100.0 +- 0.1)
    assert(limit.acquire(500, now).entries == 0)
    assert(limit.acquire(500, now + 100.millis.toNanos) == Permit.grant(400))
    val growing = Seq.fill(4)(settle(throttling, 20.millis))
    assert(growing.lazyZip(Seq(125.0, 156.25, 195.3, 244.1)).forall((found, expected) => found === expected +- 0.1))
    (1 to 30).foreach(_ => settle(throttling, 20.millis))
    assert(strategy.currentLimit === 10000.0 +- 0.1)
    val shrinking = Seq.fill(4)(Seq.fill(10)(settle(clean(400), 100.millis)).last)
    assert(shrinking.lazyZip(Seq(909.1, 476.2, 322.6, 243.9)).forall((found, expected) => found === expected +- 0.1))
    (1 to 259).foreach(_ => settle(clean(400), 100.millis))
    assert(strategy.currentLimit > 0)
    settle(clean(400), 100.millis)
    assert((strategy.currentLimit, limit.maxBatchSize) == (0.0, 500))
  }

  test("throttling of requests that were sent before the pause grew does not make it grow again") {
    val strategy = new BatchAndDelayRateLimiting(context())
    val limit = strategy.open()
    (1 to 50).foreach(_ => limit.settled(throttling.copy(sentAtNanos = 0), 20.millis.toNanos))
    assert(strategy.currentLimit === 100.0 +- 0.1)
  }

  test("the parameters of batch-and-delay are options") {
    val strategy = new BatchAndDelayRateLimiting(withParameters(
      1,
      "rateLimiting.batchAndDelay.minDelay" -> "50ms",
      "rateLimiting.batchAndDelay.maxDelay" -> "300ms",
      "rateLimiting.batchAndDelay.growth" -> "2",
      "rateLimiting.batchAndDelay.recovery" -> "0.5",
      "rateLimiting.batchAndDelay.quietTime" -> "2s"
    ))
    val limit = strategy.open()
    val pauses = (1 to 5).map { n =>
      limit.settled(throttling.copy(sentAtNanos = n.seconds.toNanos - 1), n.seconds.toNanos)
      strategy.currentLimit.round
    }
    assert(pauses == Seq(50L, 100L, 200L, 300L, 300L))
    assert(limit.maxBatchSize == 200)
    limit.settled(clean(1), 5.seconds.toNanos + 200.millis.toNanos)
    assert(strategy.currentLimit === 187.5 +- 0.1)
    limit.settled(clean(1), 7.seconds.toNanos)
    assert(strategy.currentLimit == 0.0)
  }
}
