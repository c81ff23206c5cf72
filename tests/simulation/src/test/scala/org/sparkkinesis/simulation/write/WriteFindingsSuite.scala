package org.sparkkinesis.simulation.write

import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault._
import org.sparkkinesis.simulation.write.schedule.WriteAction._
import org.sparkkinesis.simulation.write.schedule.WriteTarget._
import org.sparkkinesis.simulation.write.schedule._
import org.sparkkinesis.suite.TimedSuite

/** Shortened schedules that failed before. README.md has the seed and the revision that found each. */
class WriteFindingsSuite extends TimedSuite {
  private def run(scenario: WriteScenario): WriteOutcome = WriteSide.run(scenario).fold(throw _, identity)

  test("B1: records packed by a listing with a gap are sent again, so that readers find them") {
    run(WriteScenario(
      47,
      WriteSetup(shards = Vector(2), options = Map("aggregation" -> "true")),
      Vector(Fault(ListingHoles(1), 1739), Batch(2, 3, 300), Advance(27000))
    ))
  }

  test("B2: streams of one name in two accounts do not share their shards") {
    run(WriteScenario(
      48,
      WriteSetup(
        shards = Vector(2, 3),
        targets = Vector(Name, Arn(1)),
        tasks = 2,
        model = ModelSettings(latencyMillis = 5, writesPerSecond = 50),
        options = Map("aggregation" -> "true")
      ),
      Vector(Batch(11, 20, 300))
    ))
  }

  test("B6: a request without an answer stores nothing after its records were sent again and its task was committed") {
    run(WriteScenario(
      57,
      WriteSetup(
        shards = Vector(2),
        rowPauseMillis = 200,
        hashKeyPercent = 30,
        options = Map("requestTimeout" -> "10s", "maxTimeInBuffer" -> "100ms")
      ),
      Vector(
        Batch(1, 1, 30),
        Advance(18000),
        Fault(SlowPuts(30000), 858),
        Batch(28, 1, 30),
        Advance(9000),
        Batch(1, 1, 30),
        Advance(5000),
        Batch(91, 3, 300),
        Advance(1000),
        Fault(SlowPuts(30000), 7048),
        Advance(100)
      )
    ))
  }

  test("B6: a task that is killed cancels its requests, so that none of them is stored after later records of a key") {
    run(WriteScenario(
      58,
      WriteSetup(shards = Vector(2), options = Map("ordering" -> "key")),
      Vector(Fault(SlowPuts(20000), 3000), Batch(6, 2, 30), Advance(2000), KillTask(0), Batch(6, 2, 30), Advance(30000))
    ))
  }

  test(
    "B10: exceptions of a user's rate limiting strategy fail the task, and the task that runs again writes its rows"
  ) {
    val outcome = run(WriteScenario(
      63,
      WriteSetup(
        shards = Vector(4),
        model = ModelSettings(latencyMillis = 200, shardsPerPage = 1),
        options = Map("rateLimiting" -> classOf[UnreliableStrategy].getName)
      ),
      Vector(Batch(1, 1, 30), BreakStrategy(3, 8880), Advance(4000))
    ))
    assert(outcome.failures.exists(_.contains("RateLimitingFailedException")))
  }

  test("a stream under its name and its ARN keeps the order of keys after it was created again") {
    run(WriteScenario(
      31,
      WriteSetup(shards = Vector(3), targets = Vector(Name, Arn(0)), options = Map("ordering" -> "key")),
      Vector(Batch(5, 1, 30), Advance(200), Recreate(0, 2, 2908))
    ))
  }

  test("a task that waits for room fails when the writer of another stream has failed") {
    run(WriteScenario(
      17,
      WriteSetup(
        shards = Vector(3, 1),
        targets = Vector(Name, Arn(1)),
        rowPauseMillis = 200,
        options = Map("maxBufferedBytes" -> "1k")
      ),
      Vector(Batch(1, 1, 30), Advance(19000), Recreate(1, 1, 7145), Batch(5, 1, 2000), Advance(5000))
    ))
  }

  test("requests that a deleted stream refuses do not confirm its shards, so the new stream is listed") {
    run(WriteScenario(
      13283,
      WriteSetup(
        targets = Vector(Name, Arn(0)),
        failPercent = 10,
        model = ModelSettings(latencyMillis = 200, shardsPerPage = 2),
        options = Map("maxTimeInBuffer" -> "100ms", "aggregation" -> "true")
      ),
      Vector(Batch(21, 20, 30), Advance(100), Recreate(0, 2, 5845), Fault(SilentAnswers(10), 2703), Advance(16000))
    ))
  }

  test("an aggregate in a shard that a listing in progress will show is not sent again") {
    run(WriteScenario(
      236,
      WriteSetup(
        shards = Vector(1, 4),
        tasks = 3,
        rowPauseMillis = 10,
        options = Map("aggregation" -> "true")
      ),
      Vector(Batch(2, 1, 30), Batch(71, 3, 2000), Advance(100), Split(0, 4))
    ))
  }

  test("the shards are listed for an aggregate in a shard that is newer than a listing after its request") {
    run(WriteScenario(
      40013206,
      WriteSetup(
        shards = Vector(3, 1),
        targets = Vector(Name, Arn(1)),
        executors = 2,
        tasks = 3,
        hashKeyPercent = 30,
        model = ModelSettings(latencyMillis = 5, shardsPerPage = 2, writesPerSecond = 50),
        options = Map(
          "requestTimeout" -> "2s",
          "maxTimeInBuffer" -> "100ms",
          "aggregation" -> "true",
          "ordering" -> "bestEffort"
        )
      ),
      Vector(
        Batch(1, 20, 300),
        Advance(17000),
        Fault(Unreachable("*"), 3112),
        Batch(10, 1, 30),
        Fault(RejectedEntries("ProvisionedThroughputExceededException", 10), 47357),
        Advance(20000),
        Batch(1, 1, 30),
        Advance(13000),
        Batch(88, 20, 2000),
        Advance(16000),
        Batch(16, 1, 30),
        Advance(1000),
        Batch(74, 3, 2000),
        LoseExecutor(0),
        Batch(22, 1, 30),
        Advance(13000),
        LoseExecutor(0),
        Batch(2, 20, 300),
        Advance(3000),
        Merge(0, 3),
        Batch(2, 20, 30),
        Advance(100),
        Batch(4, 20, 300),
        Advance(300),
        Split(0, 1),
        Advance(25000),
        Merge(0, 1),
        Fault(SlowPuts(3000), 50239),
        Batch(29, 3, 30),
        Advance(2200),
        Split(0, 5)
      )
    ))
  }

  test("an aggregate is sent again if its shard was closed before a listing could contain it") {
    run(WriteScenario(
      40001757,
      WriteSetup(
        shards = Vector(3, 1),
        model = ModelSettings(latencyMillis = 200, shardsPerPage = 1, writesPerSecond = 50),
        options = Map("aggregation" -> "true")
      ),
      Vector(
        Batch(15, 1, 30),
        Advance(3000),
        Merge(0, 0),
        Batch(25, 20, 2000),
        Advance(200),
        Merge(0, 4),
        Advance(200),
        Split(0, 5)
      )
    ))
  }
}
