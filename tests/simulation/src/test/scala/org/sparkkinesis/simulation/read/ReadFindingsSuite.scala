package org.sparkkinesis.simulation.read

import org.sparkkinesis.service.Operation.{GetRecords, GetShardIterator}
import org.sparkkinesis.service.ServiceErrorKind.{Internal, Throttled}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{
  EndWithoutChildren, Failing, ListingHoles, StaleListing, Unreachable
}
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Fixed failures of planning, listings, executors and clocks. */
class ReadFindingsSuite extends TimedSuite with ReadFindings {
  test("A1: AvailableNow does not move an idle shard's time past records that arrived after it started") {
    // The tasks read from the service, which delays them for longer than an hour, while the consumers go on.
    run(ReadScenario(
      1,
      ReadSetup(
        shards = 2,
        executors = 2,
        initialPosition = "latest",
        model = ModelSettings(recordsPerAnswer = 1),
        tasks = TaskSettings(elsewherePercent = 100),
        options = slow + ("maxRecordsPerTrigger" -> "1")
      ),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(2 * Hour),
        PutTo(0, 30),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(4000),
        Fault(Failing(Some(GetShardIterator), Throttled, 100), 80 * Minute),
        Advance(Minute),
        PutTo(1, 1),
        Advance(2 * Hour)
      )
    ))
  }

  test("AvailableNow reads the children of a shard whose last records are filtered, and whose end comes late") {
    val pauses = 0 to 900 by 100
    pauses.foreach { pause =>
      run(ReadScenario(
        2,
        ReadSetup(
          shards = 2,
          model = ModelSettings(lateEnds = true),
          options = fast + ("deaggregation.hashRangeFilter" -> "true")
        ),
        Vector(
          Start(AvailableNow, efo = false, failOnDataLoss = true),
          Advance(30000),
          PutAggregate(0, 3),
          Split(0),
          Split(1),
          Fault(StaleListing(20), Hour),
          Advance(2000L + pause),
          Put(6),
          Fault(Failing(Some(GetRecords), Throttled, 100), 4000),
          Start(AvailableNow, efo = false, failOnDataLoss = true),
          Advance(Minute)
        )
      ))
    }
  }

  test("AvailableNow reads the children of a closed shard whose end comes late, also if the listings are out of date") {
    val pauses = 0 to 900 by 100
    pauses.foreach { pause =>
      run(ReadScenario(
        2,
        ReadSetup(model = ModelSettings(lateEnds = true), options = fast),
        Vector(
          Put(3),
          Start(AvailableNow, efo = false, failOnDataLoss = true),
          Advance(30000),
          Put(2),
          Split(0),
          Fault(StaleListing(20), Hour),
          Advance(2000L + pause),
          Put(3),
          // The first answer of the shard comes after the time up to which the query reads.
          Fault(Failing(Some(GetRecords), Throttled, 100), 4000),
          Start(AvailableNow, efo = false, failOnDataLoss = true),
          Advance(Minute)
        )
      ))
    }
  }

  test("A12: a query that starts at latest works if the driver's clock is ahead of the service's") {
    run(ReadScenario(
      12,
      ReadSetup(initialPosition = "latest"),
      Vector(Skew(Minute), Start(ProcessingTime(1000), efo = false, failOnDataLoss = true), Advance(5000), Put(3))
    ))
  }

  test("A14: latest means the moment at which the query's start returns") {
    killed { steps =>
      ReadScenario(
        137,
        ReadSetup(initialPosition = "latest"),
        Vector(
          Start(ProcessingTime(1000), efo = false, failOnDataLoss = true),
          Kill(steps),
          Advance(10),
          Put(1),
          Advance(Minute)
        )
      )
    }
  }

  test("A18: AvailableNow reads every record if the driver's clock is behind the service's") {
    run(ReadScenario(58, ReadSetup(), Vector(Skew(-Minute), Put(1), Advance(1000))))
  }

  test("A7: shards move from an executor that cannot reach the service to one that can") {
    Seq(false, true).foreach { efo =>
      val rounds = Vector.fill(20)(Seq(Put(4), Advance(Minute))).flatten
      val outcome = run(ReadScenario(
        7,
        ReadSetup(shards = 4, executors = 2, options = fast),
        Vector(
          Put(4),
          Start(ProcessingTime(1000), efo, failOnDataLoss = true),
          Advance(Minute),
          Fault(Unreachable("executor-1"), 10 * Hour)
        ) ++ rounds
      ))
      assert(outcome.slowestMillis < 2 * Minute)
    }
  }

  test("an executor's clock that is ahead of the service's loses no records of an idle shard") {
    run(ReadScenario(
      19,
      ReadSetup(initialPosition = "latest", options = slow),
      Vector(
        SkewExecutors(3 * Hour),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(Hour),
        Put(3),
        Advance(Minute)
      )
    ))
  }

  test("AvailableNow ends in time if the executors' clocks are behind the service's") {
    val outcome = run(ReadScenario(
      20,
      ReadSetup(options = slow),
      Vector(
        SkewExecutors(-3 * Hour),
        Put(3),
        Advance(1000),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(Minute),
        Put(1),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(Minute)
      )
    ))
    assert(outcome.queries >= 3 && outcome.slowestMillis < 2 * Minute)
  }

  test("seed 11734: AvailableNow does not end before what a lost report held before a later one was reported again") {
    run(ReadScenario(
      11734,
      ReadSetup(
        shards = 2,
        model = ModelSettings(5, 10, 1, 50),
        options = Map("minFetchPeriod" -> "3s", "shardFetchInterval" -> "10s")
      ),
      Vector(
        Put(19),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        LoseMessages(50, 51448),
        Advance(2000),
        Put(51),
        PutAggregate(1, 1),
        Advance(4000)
      )
    ))
  }

  test("seed 1016: a shard that a listing lacks for longer than it is listed again is not lost") {
    run(ReadScenario(
      1016,
      ReadSetup(shards = 3, options = fast),
      Vector(
        Merge(0),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(12000),
        Fault(StaleListing(20), 39045),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(12000)
      )
    ))
  }

  test("seed 2649: a stream that was deleted before its first start is not missed") {
    run(ReadScenario(
      2649,
      ReadSetup(initialPosition = "latest", model = ModelSettings(latencyMillis = 200), options = fast, streams = 3),
      Vector(
        Put(1),
        Start(ProcessingTime(10000), efo = false, failOnDataLoss = false),
        Advance(206),
        Recreate(2, 117029),
        Put(9),
        Recreate(2, 254829),
        Advance(1000)
      )
    ))
  }

  test("seed 169: AvailableNow does not end before the content of a lost report was reported again") {
    run(ReadScenario(
      169,
      ReadSetup(initialPosition = "at_timestamp", positionAgeMillis = 23 * Hour, options = fast),
      Vector(
        PutTo(2, 19),
        Fault(ListingHoles(1), 11681),
        Fault(Failing(None, Internal, 50), 59048),
        LoseMessages(10, 43013),
        Advance(3000),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(21000)
      )
    ))
  }

  test("seed 256: AvailableNow reads the children of a closed shard whose end was not confirmed at once") {
    run(ReadScenario(
      256,
      ReadSetup(shards = 3, options = slow),
      Vector(
        Put(29),
        Merge(5),
        PutTo(1, 1),
        Fault(EndWithoutChildren, 1652682),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(Hour)
      )
    ))
  }

  test("seed 56215: what a running query read of a recreated stream is not read again") {
    run(ReadScenario(
      56215,
      ReadSetup(
        shards = 4,
        model = ModelSettings(recordsPerAnswer = 2, shardsPerPage = 1),
        options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")
      ),
      Vector(
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Advance(248000),
        Recreate(3, 199146),
        Advance(480000),
        Put(2)
      )
    ))
  }

  test("seed 62998: a shard that the first listings of a new query lack is filtered by its hash keys") {
    run(ReadScenario(
      62998,
      ReadSetup(
        shards = 3,
        initialPosition = "at_timestamp",
        positionAgeMillis = 23 * Hour,
        model = ModelSettings(5, 1000, 2, 50),
        options = Map(
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "3s",
          "maxBytesPerTrigger" -> "1k",
          "deaggregation.hashRangeFilter" -> "true"
        )
      ),
      Vector(
        Put(1),
        Start(Once, efo = true, failOnDataLoss = true),
        PutAggregate(1, 2),
        Fault(ListingHoles(2), 21132),
        Advance(18000)
      )
    ))
  }

  test("seed 10766: AvailableNow waits for the children of ended shards that no listing has yet") {
    run(ReadScenario(
      10766,
      ReadSetup(shards = 2, options = Map("shardFetchInterval" -> "10s", "minFetchPeriod" -> "250ms")),
      Vector(
        Fault(EndWithoutChildren, 24705),
        Fault(StaleListing(16), 18719),
        Merge(4),
        Put(1),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(1000)
      )
    ))
  }

  test("8009043: AvailableNow reads both parents of a merged shard, also if two listings lack one of them") {
    (1 to 20).foreach { seed =>
      run(ReadScenario(
        8009043L + seed,
        ReadSetup(shards = 4, options = Map("minFetchPeriod" -> "3s", "shardFetchInterval" -> "2s")),
        Vector(
          Put(8),
          Merge(0),
          Fault(ListingHoles(4), 47356),
          Start(AvailableNow, efo = false, failOnDataLoss = false),
          Advance(15000)
        )
      ))
    }
  }
}
