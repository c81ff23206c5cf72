package org.sparkkinesis.simulation.read

import org.sparkkinesis.service.Operation.GetRecords
import org.sparkkinesis.service.ServiceErrorKind.{ExpiredIterator, Network}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{Failing, ListingHoles}
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/**
 * Batches of which one task reported lost records that another task had in memory. The ledger took that for a failure,
 * though each record is delivered or reported as lost.
 */
class RerunFindingsSuite extends TimedSuite with ReadFindings {
  test("a batch may have records of a recreated stream that its first task reported as lost") {
    run(ReadScenario(
      22046,
      ReadSetup(
        shards = 3,
        initialPosition = "latest",
        positionAgeMillis = 1000,
        executors = 2,
        model = ModelSettings(20, 10, 2, 50, 1000, 5000),
        tasks = TaskSettings(4, 0, 0, 5, 30),
        options = Map("minFetchPeriod" -> "250ms", "shardFetchInterval" -> "10s"),
        streams = 3
      ),
      Vector(
        Put(5),
        Advance(751747),
        Start(AvailableNow, efo = true, failOnDataLoss = false),
        Advance(495),
        Advance(352),
        Stop,
        PutAggregate(4, 0),
        Advance(4362),
        Fault(Failing(Some(GetRecords), ExpiredIterator, 20), 52093),
        Advance(19607),
        Fault(Failing(None, Network, 50), 33418),
        Advance(629),
        Advance(328),
        Fault(Failing(Some(GetRecords), ExpiredIterator, 80), 38168),
        Advance(333),
        Start(Once, efo = true, failOnDataLoss = false),
        Advance(577),
        Fault(Failing(Some(GetRecords), ExpiredIterator, 80), 30807),
        Advance(169),
        Put(18),
        Advance(543),
        Recreate(2, 155531),
        Advance(2583),
        PutAggregate(2, 0),
        Advance(1000),
        PutTo(3, 8),
        Advance(12000),
        Advance(4000)
      )
    ))
  }

  test("a second action may read records from memory that a task read from the service after they expired") {
    run(ReadScenario(
      23891,
      ReadSetup(
        executors = 3,
        tasks = TaskSettings(4, 0, 0, 50, 30),
        options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m", "maxRecordsPerTrigger" -> "1")
      ),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(660000),
        Put(60),
        Advance(43200000),
        Split(0),
        Start(ProcessingTime(3600000), efo = false, failOnDataLoss = false),
        Advance(90000000)
      )
    ))
  }

  test("a second action may read a shard from memory that was deleted before a task read it from the service") {
    run(ReadScenario(
      46598,
      ReadSetup(
        shards = 2,
        initialPosition = "latest",
        positionAgeMillis = 108000000,
        executors = 2,
        model = ModelSettings(200, 1000, 100, 50, 1000, 15000),
        tasks = TaskSettings(4, 0, 0, 50, 30),
        options = Map(
          "maxTriggerDelay" -> "30s",
          "fetchBufferSize" -> "1048576",
          "shardFetchInterval" -> "20m",
          "minFetchPeriod" -> "4m",
          "minRecordsPerTrigger" -> "50",
          "shardsPerTask" -> "2"
        )
      ),
      Vector(
        Put(19),
        Advance(3600000),
        Start(ProcessingTime(60000), efo = false, failOnDataLoss = false),
        Advance(60000),
        Split(2),
        Advance(816000),
        Advance(60000),
        Advance(2027000),
        Advance(2207000),
        Advance(1986542),
        Advance(54455),
        Stop,
        PutTo(3, 20),
        Merge(0),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        PutTo(1, 9),
        Advance(21000),
        Kill(41),
        Advance(180000),
        Fault(ListingHoles(3), 1326500),
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(60000),
        PutTo(1, 20),
        Split(6),
        Advance(36000000),
        Split(1),
        Start(ProcessingTime(3600000), efo = false, failOnDataLoss = false),
        Advance(540000),
        Split(4),
        Advance(840000),
        Kill(8),
        Split(7),
        Advance(28800000),
        Merge(5),
        PutTo(3, 9),
        Advance(43200000),
        Split(1),
        Split(7),
        Advance(39600000),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(3600000),
        Put(47),
        Split(6),
        Start(ProcessingTime(3600000), efo = false, failOnDataLoss = false),
        Advance(1440000),
        Recreate(1, 241487),
        Advance(780000),
        Advance(1440000)
      )
    ))
  }

  test("a speculative task may read records from memory that expired before the first task read them") {
    run(ReadScenario(
      82094,
      ReadSetup(
        shards = 2,
        executors = 3,
        tasks = TaskSettings(4, 0, 20, 50, 0),
        options = Map(
          "minFetchPeriod" -> "4m",
          "shardFetchInterval" -> "20m",
          "maxRecordsPerTrigger" -> "1",
          "alignShards" -> "20m"
        )
      ),
      Vector(
        Put(48),
        Put(9),
        Advance(39600000),
        PutTo(2, 1),
        Advance(11340000),
        Advance(10800000),
        Put(1),
        Advance(21600000),
        Advance(1800000),
        Start(ProcessingTime(60000), efo = true, failOnDataLoss = false),
        Advance(26000)
      )
    ))
  }

  test("seed 5000848: a query with an hour between its batches reports that a stream was deleted for 30 seconds") {
    run(ReadScenario(
      5000848L,
      ReadSetup(options = Map("shardFetchInterval" -> "20m", "minFetchPeriod" -> "4m")),
      Vector(
        Start(ProcessingTime(3600000), efo = true, failOnDataLoss = true),
        Advance(60000),
        Put(1),
        Recreate(2, 29995),
        Advance(60000)
      )
    ))
  }

  test("32000390: the children of a shard that was closed before the query started may be as old as its last record") {
    run(ReadScenario(
      32000390L,
      ReadSetup(options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")),
      Vector(
        Put(1),
        Advance(36000000L),
        Split(4),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(60000L),
        Kill(9),
        Advance(39600000L),
        Advance(18000000L)
      )
    ))
  }

  test("33036747: the report of a lost lineage is also about what expires before the rest is fetched") {
    run(ReadScenario(
      33036747L,
      ReadSetup(shards = 2, options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")),
      Vector(
        Start(Once, efo = false, failOnDataLoss = true),
        Advance(60000L),
        Put(1),
        Merge(2),
        Split(2),
        Advance(14400000L),
        PutTo(3, 1),
        Advance(83140000L),
        Start(Once, efo = true, failOnDataLoss = true),
        Advance(3253000L)
      )
    ))
  }

  test("35006603: executors that do not hear that they lost a shard read it on, and neither knows the other's calls") {
    run(ReadScenario(
      35006603L,
      ReadSetup(
        executors = 2,
        tasks = TaskSettings(4, 10, 0, 5, 30),
        options = Map("minFetchPeriod" -> "250ms", "shardFetchInterval" -> "2s"),
        recordBytes = 10484760
      ),
      Vector(
        Put(1),
        Start(RealTime(5000L), efo = false, failOnDataLoss = false),
        Advance(37983L),
        Split(1),
        Advance(11000L),
        AddExecutor,
        Advance(18437L),
        LoseMessages(100, 48025L),
        Advance(9000L),
        PutTo(1, 1),
        Advance(11102L),
        Put(1),
        Advance(4000L),
        PutTo(3, 1),
        Advance(16000L)
      )
    ))
  }
}
