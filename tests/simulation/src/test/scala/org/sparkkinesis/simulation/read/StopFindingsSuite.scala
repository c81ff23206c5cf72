package org.sparkkinesis.simulation.read

import org.sparkkinesis.service.{Operation, ServiceErrorKind}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.Failing
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.suite.TimedSuite

/** Schedules in which a query is stopped between two of its batches. */
class StopFindingsSuite extends TimedSuite with ReadFindings {

  test("seed 6002615: records that expired are reported if the query stops after it fetched newer ones") {
    val outcome = run(ReadScenario(
      6002615,
      ReadSetup(
        shards = 3,
        executors = 3,
        model = ModelSettings(200, 2, 1, 0, 1000, 15000, lateEnds = true),
        options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m", "maxRecordsPerTrigger" -> "1")
      ),
      Vector(
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = true),
        Advance(Hour),
        Split(2),
        Split(7),
        Split(6),
        Advance(44 * Minute),
        Stop,
        Put(8),
        Advance(10 * Hour),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(11 * Minute),
        Kill(9),
        Split(0),
        Advance(15 * Hour),
        Fault(Failing(Some(Operation.ListShards), ServiceErrorKind.ExpiredNextToken, 50), 1053188),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(3 * Minute),
        Stop
      )
    ))
    // Shards 7 and 8, by the run that must not lose data and by the one that may.
    assert(outcome.losses > 2)
  }

  test("seed 290081153: a batch that runs again begins where the query had read to, and not at the offset before it") {
    run(ReadScenario(
      290081153,
      ReadSetup(
        shards = 2,
        initialPosition = "latest",
        executors = 3,
        model = ModelSettings(200, 10, 100, 0, 1000, 15000, lateEnds = true),
        options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m"),
        streams = 2,
        recordBytes = 1047576
      ),
      Vector(
        Put(10),
        Start(AvailableNow, efo = true, failOnDataLoss = true),
        Merge(2),
        Advance(Hour),
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Advance(51 * Minute),
        Advance(Hour),
        Split(6),
        Advance(575000),
        Put(2),
        Advance(136000),
        Advance(72300000),
        Advance(586000),
        Merge(0),
        Advance(101000),
        Advance(494000),
        Stop,
        Put(10),
        Advance(10 * Hour),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(3000),
        Stop
      )
    ))
  }
}
