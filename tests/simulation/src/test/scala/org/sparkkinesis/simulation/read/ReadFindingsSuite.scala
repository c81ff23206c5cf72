package org.sparkkinesis.simulation.read

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.service.ServiceErrorKind.Internal
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{
  EndWithoutChildren, Failing, ListingHoles, StaleListing, Unreachable
}
import org.sparkkinesis.simulation.read.ReadAction._
import org.sparkkinesis.simulation.spark.QueryTrigger._

/** Shortened schedules of fixed failures. README.md lists the seed and the commit that found each. */
class ReadFindingsSuite extends AnyFunSuite {
  private val slow = Map("minFetchPeriod" -> "30s", "shardFetchInterval" -> "5m")
  private val fast = Map("minFetchPeriod" -> "1s", "shardFetchInterval" -> "10s")
  private val Hour = 3600000L
  private val Minute = 60000L

  private def run(scenario: ReadScenario): ReadOutcome = ReadRuns.run(scenario).fold(throw _, identity)

  test("A1: AvailableNow does not move an idle shard's time past records that arrived after it started") {
    run(ReadScenario(
      1,
      ReadSetup(shards = 2, executors = 2, initialPosition = "latest", options = slow),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(2 * Hour),
        PutTo(0, 3),
        Fault(Unreachable("executor-3"), 20 * Minute),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(Minute),
        PutTo(1, 1),
        Advance(Hour)
      )
    ))
  }

  test("A2: descendants of shards of which two generations expired are read, or reported as lost") {
    run(ReadScenario(
      46,
      ReadSetup(options = slow),
      Vector(
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(Minute),
        Split(1),
        Merge(1),
        Advance(26 * Hour),
        Put(1)
      )
    ))
  }

  test("A3: a logged batch over an expired shard is data loss, and is skipped if loss is allowed") {
    killed { steps =>
      ReadScenario(
        47,
        ReadSetup(shards = 2, options = slow),
        Vector(
          Put(5),
          Start(ProcessingTime(Minute), efo = false, failOnDataLoss = true),
          Kill(steps),
          Advance(Minute),
          Merge(0),
          Advance(26 * Hour)
        )
      )
    }
  }

  test("A6: records of a logged batch that expired before it ran again are reported as lost") {
    killed { steps =>
      ReadScenario(
        6,
        ReadSetup(options = slow),
        Vector(
          Put(5),
          Advance(10 * Hour),
          Put(5),
          Start(Once, efo = false, failOnDataLoss = true),
          Kill(steps),
          Advance(15 * Hour)
        )
      )
    }
  }

  test("A6: records that expire while a running query is behind are reported as lost") {
    val outcome = run(ReadScenario(
      61,
      ReadSetup(
        options = slow ++ Map("maxRecordsPerTrigger" -> "1", "fetchBufferSize" -> "1048576"),
        model = ModelSettings(recordsPerAnswer = 2),
        recordBytes = 400000
      ),
      Vector(
        Put(12),
        Start(ProcessingTime(6 * Hour), efo = false, failOnDataLoss = false),
        Advance(40 * Hour)
      )
    ))
    assert(outcome.losses > 0 && outcome.delivered < 12)
  }

  test("seed 2840: positions are checked for expiry also after a batch that runs again") {
    run(ReadScenario(
      2840,
      ReadSetup(shards = 3, options = slow + ("maxRecordsPerTrigger" -> "1")),
      Vector(
        Put(10),
        PutTo(0, 5),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        PutAggregate(5, 2),
        Advance(13 * Minute),
        PutTo(3, 13),
        Advance(91980000),
        Kill(29),
        Advance(Hour),
        Put(11),
        Advance(Hour)
      )
    ))
  }

  /** Runs the scenario once for each of the driver's first steps, at which it is killed. */
  private def killed(scenario: Int => ReadScenario): Unit = (1 to 20).foreach(steps => run(scenario(steps)))

  test("A4: an initial position before the retention period is no data loss") {
    run(ReadScenario(
      107,
      ReadSetup(shards = 3, initialPosition = "at_timestamp", positionAgeMillis = 23 * Hour, options = slow),
      Vector(Put(7), Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false), Advance(7000))
    ))
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

  test("a query that was stopped for less than the retention period reports no loss") {
    run(ReadScenario(
      35,
      ReadSetup(options = slow),
      Vector(Put(1), Advance(10 * Hour), Start(AvailableNow, efo = false, failOnDataLoss = true), Advance(15 * Hour))
    ))
  }

  test("a query that read an idle stream within the retention period reports no loss") {
    run(ReadScenario(
      26,
      ReadSetup(initialPosition = "latest", options = slow),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(15 * Hour),
        Start(Once, efo = false, failOnDataLoss = true),
        Advance(13 * Hour)
      )
    ))
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

  test("seed 18: an open shard that no listing contains for a long time is not read again") {
    run(ReadScenario(
      18,
      ReadSetup(shards = 2, executors = 3, options = slow + ("maxBytesPerTrigger" -> "1k"), streams = 3),
      Vector(
        Put(3),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(26 * Minute),
        Stop,
        Advance(28 * Hour),
        Put(5),
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Kill(34),
        Advance(13 * Minute),
        Put(2),
        Fault(ListingHoles(1), 48 * Minute),
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Advance(15 * Minute)
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

  test("seed 67: expired shards that were read while the stream was idle are no data loss") {
    run(ReadScenario(
      67,
      ReadSetup(shards = 4, options = slow),
      Vector(
        Merge(5),
        Split(5),
        Advance(15 * Hour),
        Start(AvailableNow, efo = true, failOnDataLoss = false),
        Advance(10 * Hour)
      )
    ))
  }
}
