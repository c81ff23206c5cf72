package org.sparkkinesis.simulation.write

import org.sparkkinesis.service.Operation.PutRecords
import org.sparkkinesis.service.ServiceErrorKind.Throttled
import org.sparkkinesis.simulation.metadata.MetadataFault.{Down, Empty, Older}
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{Failing, RejectedEntries, SlowPuts, Unreachable}
import org.sparkkinesis.simulation.write.schedule.WriteAction._
import org.sparkkinesis.simulation.write.schedule.WriteTarget.Logical
import org.sparkkinesis.simulation.write.schedule.{WriteScenario, WriteSetup}
import org.sparkkinesis.suite.TimedSuite

/** Shortened schedules of writes to a logical stream that failed before. README.md has the finding of each. */
class RouteFindingsSuite extends TimedSuite {
  private def run(scenario: WriteScenario): WriteOutcome = RouteSide.run(scenario).fold(throw _, identity)

  test("a query that had no active stream goes on after the document has one again") {
    run(WriteScenario(
      29,
      WriteSetup(shards = Vector(3, 1), targets = Vector(Logical), logical = Vector(Active, Active)),
      Vector(Migrate(0, 1), NameStream(1, Absent), Batch(1, 1, 30))
    ))
  }

  test("a micro-batch after a restart does not write to a stream that is draining meanwhile") {
    run(WriteScenario(
      30,
      WriteSetup(
        shards = Vector(2, 2, 3),
        targets = Vector(Logical),
        executors = 2,
        hashKeyPercent = 30,
        logical = Vector(Active, Absent, Active)
      ),
      Vector(
        Batch(9, 1, 30),
        Advance(100),
        FailMetadata(Down, 36713),
        Advance(1000),
        NameStream(0, Draining),
        Fault(Failing(Some(PutRecords), Throttled, 80), 42110),
        Advance(4000),
        Batch(26, 1, 30),
        Advance(30000),
        Restart,
        Advance(15000)
      )
    ))
  }

  test("a query that was idle does not go back to an older document") {
    run(WriteScenario(
      219,
      WriteSetup(
        shards = Vector(3, 1, 3),
        targets = Vector(Logical),
        options = Map("metadataRefreshInterval" -> "1s"),
        logical = Vector(Active, Absent, Active)
      ),
      Vector(
        Batch(1, 1, 30),
        Advance(22000),
        NameStream(2, Standby),
        Advance(38000),
        FailMetadata(Older, 10701),
        Batch(1, 1, 30)
      )
    ))
  }

  test("an empty document does not take the streams away") {
    val outcome = run(WriteScenario(
      27,
      WriteSetup(shards = Vector(3, 1, 3), targets = Vector(Logical), logical = Vector(Active, Absent, Absent)),
      Vector(Batch(1, 1, 30), Advance(1000), FailMetadata(Empty, 200000), Advance(100000), Batch(1, 1, 30))
    ))
    assert(outcome.failures.isEmpty)
  }

  test("a task goes on after two streams of its micro-batch have stalled at the same time") {
    run(WriteScenario(
      50000423,
      WriteSetup(
        shards = Vector(3, 2, 1),
        targets = Vector(Logical),
        tasks = 2,
        rowPauseMillis = 10,
        speculationPercent = 20,
        model = ModelSettings(latencyMillis = 5),
        options = Map(
          "requestTimeout" -> "500ms",
          "maxBatchSize" -> "10",
          "maxBufferedBytes" -> "1k",
          "aggregation" -> "true",
          "metadataRefreshInterval" -> "5s"
        ),
        logical = Vector(Active, Absent, Active)
      ),
      Vector(
        Batch(82, 1, 300),
        Advance(100),
        Fault(SlowPuts(30000), 30425),
        Batch(97, 1, 30),
        Advance(13800),
        Fault(Unreachable("executor-1"), 1464),
        Advance(2000),
        Batch(91, 1, 30),
        Fault(RejectedEntries("InternalFailure", 50), 46743),
        Advance(18000)
      )
    ))
  }
}
