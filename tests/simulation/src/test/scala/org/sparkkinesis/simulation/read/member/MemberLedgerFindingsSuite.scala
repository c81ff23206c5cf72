package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.service.Operation.GetShardIterator
import org.sparkkinesis.service.ServiceErrorKind.Throttled
import org.sparkkinesis.simulation.metadata.MetadataFault.Slow
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.Failing
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.suite.TimedSuite

/** Schedules with logical streams in which the ledger or the verdict was wrong, not the connector. */
class MemberLedgerFindingsSuite extends TimedSuite with ReadFindings {
  test("260053992: a stream is dropped before an offset says that it was parked") {
    run(ReadScenario(
      260053992L,
      ReadSetup(
        3,
        model = ModelSettings(5, 2, 1, 0, 1000, 15000L, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "1",
          "shardFetchInterval" -> "20m",
          "minFetchPeriod" -> "4m",
          "drainTimeout" -> "1m",
          "shardsPerTask" -> "1"
        ),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Start(ProcessingTime(60000L), false, false),
        Advance(60000L),
        Split(3),
        Stop,
        Name(0, Absent),
        Put(1),
        Advance(8000L),
        Start(AvailableNow, false, false),
        Advance(3600000L),
        Put(1),
        Advance(3600000L),
        FailMetadata(Slow(4), 69549L),
        Start(Once, false, false),
        Advance(420000L)
      )
    ))
  }

  test("260017589: a batch leaves a position as old as the last record of a backlog that was not fetched to its end") {
    run(ReadScenario(
      260017589L,
      ReadSetup(
        3,
        model = ModelSettings(20, 2, 100, 0, 1000, 15000L, false),
        options = Map("shardFetchInterval" -> "20m", "minFetchPeriod" -> "4m"),
        executors = 2,
        streams = 3,
        logical = Vector(Active, Standby, Standby)
      ),
      Vector(
        Put(16),
        Advance(51960000L),
        Fault(Failing(Some(GetShardIterator), Throttled, 50), 1257804L),
        Put(3),
        Advance(420000L),
        Name(1, Active),
        Start(ProcessingTime(3600000L), false, false),
        Advance(1200000L),
        Kill(0),
        Advance(36000000L)
      )
    ))
  }

  test("290087930: the stored position has children that were not read since their parent") {
    run(ReadScenario(
      290087930L,
      ReadSetup(
        1,
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "1",
          "shardFetchInterval" -> "20m",
          "minFetchPeriod" -> "4m",
          "drainTimeout" -> "1h",
          "minRecordsPerTrigger" -> "50",
          "shardsPerTask" -> "1"
        ),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(
        Start(ProcessingTime(3600000L), true, true),
        Advance(29000L),
        Suspend(16507263L),
        Stop,
        Name(0, Standby),
        Advance(14400000L),
        Split(2),
        Advance(18000000L),
        Start(ProcessingTime(3600000L), false, true),
        Advance(60000L),
        Kill(5),
        Advance(37680000L)
      )
    ))
  }

  test("290091567: records wait for a day because of a limit, and the position before them is as old") {
    run(ReadScenario(
      1L,
      ReadSetup(
        4,
        initialPosition = "latest",
        options = Map("maxRecordsPerTrigger" -> "1", "minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m"),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Start(ProcessingTime(Hour), false, true),
        Advance(31 * Minute),
        Put(60),
        Advance(23 * Hour + 35 * Minute),
        Stop,
        Start(AvailableNow, false, true),
        Advance(Minute)
      )
    ))
  }
}
