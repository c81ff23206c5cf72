package org.sparkkinesis.simulation.read.loss

import org.sparkkinesis.simulation.metadata.NamedState.{Active, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.Unreachable
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Reports of loss although nothing was lost, which are fixed, and reports that the verdict took for false. */
class FalseAlarmFindingsSuite extends TimedSuite with ReadFindings {
  test("seed 88393: a child of a shard that was read to its tip is not older than that") {
    run(ReadScenario(
      88393L,
      ReadSetup(shards = 4, options = verySlow),
      Vector(
        Put(1),
        Advance(86040000L),
        Start(ProcessingTime(3600000L), false, false),
        Advance(720000L),
        Merge(1),
        PutTo(1, 1)
      )
    ))
  }

  test("seed 42260: a grandchild of a shard that was read to its tip is not older than that") {
    run(ReadScenario(
      42260L,
      ReadSetup(shards = 4, options = verySlow),
      Vector(
        Put(1),
        Advance(79740000L),
        Start(ProcessingTime(3600000L), false, false),
        Advance(2340000L),
        Advance(900000L),
        Merge(5),
        Merge(0),
        Advance(3600000L),
        Merge(6),
        Advance(720000L)
      )
    ))
  }

  test("seed 90428: the children of a finished shard are not older than the last time at which it was open") {
    run(ReadScenario(
      90428L,
      ReadSetup(options = verySlow ++ Map("minRecordsPerTrigger" -> "50", "maxTriggerDelay" -> "30s")),
      Vector(
        Put(1),
        Advance(68400000L),
        Start(ProcessingTime(3600000L), false, true),
        Advance(300000L),
        Kill(7),
        Split(2),
        Advance(32400000L)
      )
    ))
  }

  test("seed 68025: a planned record that expires before the first batch is logged may be reported as lost") {
    run(ReadScenario(
      68025L,
      ReadSetup(executors = 3, tasks = TaskSettings(4, 0, 20, 50, 30), options = verySlow, streams = 2),
      Vector(
        Put(1),
        Advance(86280000L),
        Start(Once, false, false),
        Advance(1140000L)
      )
    ))
  }

  test("seed 52284: the task of a shard that expired before the start may report it after a batch was planned") {
    run(ReadScenario(
      52284L,
      ReadSetup(shards = 2, model = ModelSettings(5, 1000, 2, 0, 1000, 15000L), options = verySlow),
      Vector(
        Merge(0),
        Advance(46800000L),
        Advance(3600000L),
        Advance(7200000L),
        Start(AvailableNow, true, true),
        Advance(17000L),
        Stop,
        Advance(28800000L),
        Put(6)
      )
    ))
  }

  test("seed 38377: a child that no run has read may be reported with its first answer, after a batch was planned") {
    run(ReadScenario(
      38377L,
      ReadSetup(shards = 2, initialPosition = "latest", positionAgeMillis = 1000L, options = verySlow),
      Vector(
        Split(2),
        Start(ProcessingTime(60000L), false, false),
        PutAggregate(4, 0),
        Stop,
        Merge(5),
        Advance(54000000L),
        Start(ProcessingTime(3600000L), false, false),
        Advance(44000L),
        Kill(0),
        Put(8),
        Advance(36000000L)
      )
    ))
  }

  test("seed 73857: a shard that was last read long ago may be reported after a batch of others was planned") {
    run(ReadScenario(
      73857L,
      ReadSetup(shards = 4, model = ModelSettings(5, 10, 1, 0, 1000, 15000L), options = verySlow, streams = 3),
      Vector(
        Start(Once, false, true),
        Advance(840000L),
        Advance(840000L),
        Advance(660000L),
        Advance(3600000L),
        Put(2),
        Advance(14400000L),
        Advance(21600000L),
        Start(ProcessingTime(3600000L), false, true),
        Advance(1380000L),
        Kill(1),
        Advance(43200000L)
      )
    ))
  }

  test("seed 8015829: a stream keeps how far it was read when another stream of the query was recreated") {
    run(ReadScenario(
      8015829L,
      ReadSetup(model = ModelSettings(5, 1000, 1, 0, 1000, 15000L), options = verySlow, streams = 2),
      Vector(
        Split(5),
        Start(ProcessingTime(3600000L), false, true),
        Advance(86400000L),
        Advance(60000L),
        Put(1),
        Advance(60000L),
        Recreate(2, 249272L)
      )
    ))
  }

  test("9208920: the position in a closed shard stays as old as its last record until the end is reported") {
    run(ReadScenario(
      9208920L,
      ReadSetup(model = ModelSettings(5, 2, 100, 50, 1000, 15000L, lateEnds = true), options = verySlow, streams = 3),
      Vector(
        Put(8),
        Advance(20 * Hour),
        Split(3),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(Minute),
        Stop,
        Advance(7 * Hour)
      )
    ))
  }

  test("9300276: a record that expires after its executor is lost, and before a batch has it, is lost") {
    val outcome = run(ReadScenario(
      9300276L,
      ReadSetup(options = verySlow),
      Vector(
        Put(1),
        Advance(24 * Hour - 19000L),
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(27000L),
        KillExecutor(2, 0),
        Advance(17 * Minute)
      )
    ))
    assert(outcome.delivered == 0 && outcome.losses == 1)
  }

  test("32010435: a real-time batch that ends before a record leaves the time of that record") {
    run(ReadScenario(
      32010435L,
      ReadSetup(options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")),
      Vector(
        Put(1),
        Advance(25200000L),
        Start(RealTime(3600000L), efo = false, failOnDataLoss = true),
        Advance(240000L),
        Fault(Unreachable("executor"), 3305862L),
        Advance(1020000L),
        Advance(780000L),
        PutTo(3, 1),
        Advance(1560000L),
        Kill(6),
        Advance(18000000L),
        Advance(14400000L),
        Advance(14400000L),
        Advance(10800000L)
      )
    ))
  }

  test("90032253: a shard that was read to its end and has expired is not read again after the loss of its executor") {
    val outcome = run(ReadScenario(
      90032253L,
      ReadSetup(shards = 3, options = verySlow, streams = 2, logical = Vector(Active, Standby)),
      Vector(
        Start(ProcessingTime(60000L), efo = false, failOnDataLoss = true),
        Merge(2),
        Advance(26 * Hour),
        KillExecutor(0, 4),
        Advance(12 * Minute)
      )
    ))
    assert(outcome.losses == 0)
  }

  test("91023367: an idle shard keeps its time when it moves to an executor that cannot reach the service") {
    val outcome = run(ReadScenario(
      91023367L,
      ReadSetup(
        initialPosition = "latest",
        positionAgeMillis = 1000L,
        executors = 2,
        options = verySlow ++ Map("alignShards" -> "6h", "minRecordsPerTrigger" -> "50", "maxTriggerDelay" -> "30s"),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(
        Start(ProcessingTime(60000L), efo = false, failOnDataLoss = true),
        Advance(28 * Hour),
        Fault(Unreachable("executor"), 3248214L),
        Advance(9 * Minute)
      )
    ))
    assert(outcome.losses == 0)
  }

  test("92015183: a shard that ended keeps its time while no description shows that its stream is the same") {
    val outcome = run(ReadScenario(
      92015183L,
      ReadSetup(options = verySlow, streams = 3, logical = Vector(Active, Standby, Active)),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(Hour),
        Start(ProcessingTime(60000L), efo = true, failOnDataLoss = false),
        Advance(101220000L),
        Split(3),
        Advance(6000L),
        Fault(Unreachable("*"), 3063710L),
        Advance(12 * Minute)
      )
    ))
    assert(outcome.losses == 0)
  }

  test("93011990: a query that begins at latest and is suspended within its first second begins at its start") {
    val outcome = run(ReadScenario(
      93011990L,
      ReadSetup(
        initialPosition = "latest",
        positionAgeMillis = 30 * Hour,
        options = Map("shardFetchInterval" -> "2s", "minFetchPeriod" -> "250ms"),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(Start(AvailableNow, efo = true, failOnDataLoss = true), Advance(299L), Suspend(62826469L))
    ))
    assert(outcome.losses == 0)
  }

  test(
    "97041380: a shard that a batch reads to its end is not read again if its executor is lost before the next one"
  ) {
    val outcome = run(ReadScenario(
      97041380L,
      ReadSetup(options = verySlow ++ Map("minRecordsPerTrigger" -> "50", "maxTriggerDelay" -> "30s")),
      Vector(
        Put(5),
        Advance(24 * Hour - 18 * Minute),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = true),
        Advance(3 * Minute),
        Split(0),
        Advance(Hour),
        LoseExecutor(0),
        Advance(2 * Hour)
      )
    ))
    assert(outcome.losses == 0)
  }
}
