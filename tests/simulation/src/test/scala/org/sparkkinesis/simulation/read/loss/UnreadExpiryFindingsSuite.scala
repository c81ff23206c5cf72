package org.sparkkinesis.simulation.read.loss

import org.sparkkinesis.service.{Operation, ServiceErrorKind}
import org.sparkkinesis.simulation.metadata.MetadataFault.Slow
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Standby}
import org.sparkkinesis.simulation.model.ServiceFault.{Failing, ListingHoles, Unreachable}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.suite.TimedSuite

/** Fixed failures around records that expire before an executor fetches them, or before a task reads them. */
class UnreadExpiryFindingsSuite extends TimedSuite with ReadFindings {
  test("seed 10513: records that expire in shards which a killed driver had not looked at are reported as lost") {
    run(ReadScenario(
      10513,
      ReadSetup(shards = 4, options = verySlow),
      Vector(
        Put(4),
        Advance(18 * Hour),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = true),
        Advance(Minute),
        Kill(1),
        Advance(8 * Hour)
      )
    ))
  }

  test("seed 8244: records that expire before they are fetched again after the loss of an executor are reported") {
    run(ReadScenario(
      8244,
      ReadSetup(options = verySlow + ("maxRecordsPerTrigger" -> "5")),
      Vector(
        Put(7),
        Advance(83460000),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(57 * Minute),
        LoseExecutor(0)
      )
    ))
  }

  test("seed 63766: an expired shard is reported once, also if its executor is lost later") {
    val outcome = run(ReadScenario(
      63766,
      ReadSetup(options = verySlow),
      Vector(
        Start(ProcessingTime(Hour), efo = true, failOnDataLoss = false),
        Kill(9),
        Split(7),
        Advance(10 * Hour),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Stop,
        Advance(15 * Hour),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(39 * Minute),
        KillExecutor(2, 0),
        Advance(Minute)
      )
    ))
    assert(outcome.losses == 1)
  }

  test("seed 11536: a query that was stopped before it looked does not know how far its shards were read") {
    run(ReadScenario(
      11536,
      ReadSetup(shards = 4, executors = 3, options = verySlow),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(14 * Minute),
        Split(4),
        Advance(14 * Hour),
        Start(Once, efo = false, failOnDataLoss = false),
        Stop,
        Put(1),
        Advance(14 * Hour)
      )
    ))
  }

  test("seed 19837: records that expire after they were planned and before a task reads them are reported as lost") {
    val outcome = run(ReadScenario(
      19837,
      ReadSetup(options = verySlow),
      Vector(
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(Minute),
        Stop,
        Put(1),
        Advance(75506000),
        Put(1),
        Advance(3 * Hour),
        Start(Once, efo = false, failOnDataLoss = false)
      )
    ))
    assert(outcome.losses > 0 && outcome.delivered == 1)
  }

  test("records that expire between the start of a run and its first fetch are reported as lost") {
    val outcome = run(ReadScenario(
      19838,
      ReadSetup(options = verySlow),
      Vector(
        Put(1),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(Minute),
        Put(1),
        Advance(24 * Hour - 2 * Minute),
        Fault(Failing(Some(Operation.GetRecords), ServiceErrorKind.Throttled, 100), 10 * Minute),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(Hour)
      )
    ))
    assert(outcome.losses > 0 && outcome.delivered == 1)
  }

  test("30013794: the last records of a closed shard expire between two answers of its consumer") {
    run(ReadScenario(
      30013794L,
      ReadSetup(
        options = Map(
          "fetchBufferSize" -> "1048576",
          "shardFetchInterval" -> "20m",
          "minFetchPeriod" -> "4m",
          "maxRecordsPerTrigger" -> "30",
          "shardsPerTask" -> "2"
        ),
        recordBytes = 1047576
      ),
      Vector(
        PutTo(0, 10),
        Advance(7200000L),
        Split(0),
        Advance(18000000L),
        Advance(36000000L),
        Advance(18000000L),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(104400000L)
      )
    ))
  }

  test("170079388: the initial time is too old for one of two streams, and the first run ends before its first batch") {
    run(ReadScenario(
      170079388L,
      ReadSetup(
        1,
        24,
        "at_timestamp",
        23 * Hour,
        options = Map("shardFetchInterval" -> "10s", "minFetchPeriod" -> "3s"),
        streams = 3,
        logical = Vector(Active, Active, Absent)
      ),
      Vector(
        Start(AvailableNow, efo = true, failOnDataLoss = true),
        Advance(237L),
        Suspend(107860067L),
        Advance(13000L),
        PutTo(1, 1),
        Suspend(163245976L)
      )
    ))
  }

  test("230061927: a query stops after it planned records of a shard whose first report was lost") {
    val outcome = run(ReadScenario(
      230061927L,
      ReadSetup(
        2,
        24,
        "at_timestamp",
        Hour,
        2,
        options = Map(
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "20s",
          "removalConfirmations" -> "1",
          "alignShards" -> "2s",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "250ms"
        ),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(
        Put(19),
        Start(ProcessingTime(5000L), false, false),
        Advance(4056L),
        Fault(Unreachable("*"), 13109L),
        Advance(11401L),
        Advance(863L),
        Advance(15175L),
        Fault(Unreachable("driver"), 18340L),
        Advance(15862L),
        Fault(ListingHoles(4), 55781L),
        Advance(3395L),
        Advance(16870L),
        Advance(736L),
        Merge(4),
        Advance(89L),
        Advance(1435L),
        Recreate(2, 188092L),
        Advance(395L),
        AddExecutor,
        Advance(4000L),
        Stop,
        Put(1),
        Suspend(144859739L),
        LoseMessages(50, 49554L),
        Fault(Failing(Some(Operation.GetRecords), ServiceErrorKind.Throttled, 80), 57284L),
        FailMetadata(Slow(3), 32389L),
        Start(ProcessingTime(100L), false, false),
        Advance(849L),
        Put(44),
        Advance(16135L),
        AddExecutor,
        Advance(266L),
        Put(1),
        Advance(6481L),
        Put(2),
        Advance(3000L),
        Advance(1000L),
        Stop
      )
    ))
    assert(outcome.losses > 0)
  }
}
