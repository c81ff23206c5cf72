package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.service.Operation.GetShardIterator
import org.sparkkinesis.service.ServiceErrorKind.Internal
import org.sparkkinesis.simulation.metadata.MetadataFault.{Down, Empty, Truncated}
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{EndWithoutChildren, Failing}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule.{ReadScenario, ReadSetup}
import org.sparkkinesis.simulation.spark.QueryTrigger.{AvailableNow, Once, ProcessingTime}
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Schedules with logical streams that failed. */
class LogicalFindingsSuite extends TimedSuite with ReadFindings {

  test("a stream waits for its predecessor also while the metadata service answers with an empty document") {
    run(ReadScenario(
      151,
      ReadSetup(
        options = fast ++ Map("metadataRefreshInterval" -> "1s", "drainTimeout" -> "1m"),
        streams = 3,
        logical = Vector(Active, Standby, Standby)
      ),
      Vector(
        Start(ProcessingTime(5000), efo = false, failOnDataLoss = false),
        Migrate(1, 2),
        Put(1),
        Advance(2000),
        FailMetadata(Empty, 51464),
        Advance(10000)
      )
    ))
  }

  test("AvailableNow reads the newest records of a logical stream if the driver's clock is behind the service's") {
    run(ReadScenario(
      147,
      ReadSetup(options = slow, streams = 3, logical = Vector(Active, Active, Active)),
      Vector(
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(16 * Minute),
        PutTo(0, 1),
        Skew(-20 * Minute)
      )
    ))
  }

  test("a stream that joins a query that had none is read") {
    val outcome = run(ReadScenario(
      39,
      ReadSetup(options = fast + ("metadataRefreshInterval" -> "1s"), streams = 2, logical = Vector(Standby, Standby)),
      Vector(
        Start(ProcessingTime(5000), efo = false, failOnDataLoss = true),
        Advance(16000),
        Name(1, Active),
        PutTo(1, 3),
        Advance(60000)
      )
    ))
    assert(outcome.failures.isEmpty && outcome.delivered == 3)
  }

  test("records are reported that expire in a stream that was parked before it was read") {
    val outcome = run(ReadScenario(
      160,
      ReadSetup(
        options = slow ++ Map(
          "metadataRefreshInterval" -> "20s",
          "onStreamRemoved" -> "park",
          "removalConfirmations" -> "1"
        ),
        streams = 2,
        logical = Vector(Active, Absent)
      ),
      Vector(
        Start(ProcessingTime(5000), efo = false, failOnDataLoss = false),
        PutTo(1, 3),
        PutTo(0, 1),
        Advance(2 * Minute),
        Fault(Failing(Some(GetShardIterator), Internal, 100), 2 * Minute),
        Name(1, Active),
        Advance(45000),
        Name(1, Absent),
        Advance(30 * Hour),
        Name(1, Active),
        Advance(10 * Minute)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("the descendants of shards are read that expired before their stream is taken in") {
    run(ReadScenario(
      252,
      ReadSetup(
        options = Map("shardFetchInterval" -> "20m", "minFetchPeriod" -> "4m"),
        streams = 3,
        logical = Vector(Active, Standby, Standby)
      ),
      Vector(
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = true),
        Advance(19000),
        Migrate(1, 2),
        Advance(19 * Minute),
        Split(1),
        Stop,
        Split(1),
        Advance(24 * Hour),
        PutTo(1, 1),
        FailMetadata(Down, 980008)
      )
    ))
  }

  test("38002307: how far a joined stream was read is known when another stream was recreated") {
    run(ReadScenario(
      38002307L,
      ReadSetup(
        shards = 3,
        model = ModelSettings(200, 1000, 2, 0, 1000, 15000L),
        options = slow ++ Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "10s",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "2",
          "drainTimeout" -> "1h"
        ),
        streams = 2,
        logical = Vector(Active, Absent)
      ),
      Vector(
        Advance(78433790L),
        Start(AvailableNow, efo = true, failOnDataLoss = true),
        Advance(46800000L),
        Migrate(0, 1),
        Start(Once, efo = false, failOnDataLoss = true),
        Advance(25200000L),
        Put(4),
        Advance(86400000L),
        Recreate(2, 102897L)
      )
    ))
  }

  test("38000635: the same for a stream that joined while the query was running") {
    run(ReadScenario(
      38000635L,
      ReadSetup(
        shards = 4,
        executors = 3,
        model = ModelSettings(200, 2, 2, 50, 1000, 15000L),
        options = slow,
        streams = 3,
        logical = Vector(Active, Absent, Active)
      ),
      Vector(
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = true),
        Advance(47000L),
        Name(1, Active),
        AddExecutor,
        Advance(1591000L),
        Stop,
        PutTo(1, 5),
        Advance(100800000L),
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(420000L),
        PutAggregate(2, 0),
        Advance(3600000L),
        Recreate(3, 263914L),
        Advance(84000000L)
      )
    ))
  }

  test("a report about a stream is also about its shards that expired before the query could list it") {
    run(ReadScenario(
      39001628,
      ReadSetup(
        shards = 3,
        initialPosition = "latest",
        positionAgeMillis = 3600000,
        executors = 3,
        options = verySlow,
        streams = 2,
        logical = Vector(Active, Absent)
      ),
      Vector(
        FailMetadata(Truncated, 794190),
        Start(ProcessingTime(60000), efo = false, failOnDataLoss = false),
        Advance(3 * Hour),
        Put(1),
        Merge(1),
        Advance(15 * Hour),
        Advance(11 * Hour)
      )
    ))
  }

  test("the driver holds the shards of a stream that has returned since the last batch") {
    run(ReadScenario(
      39003637,
      ReadSetup(
        shards = 2,
        options = verySlow ++ Map(
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20m",
          "drainTimeout" -> "1h",
          "removalConfirmations" -> "1",
          "alignShards" -> "20m",
          "maxRecordsPerTrigger" -> "30",
          "shardsPerTask" -> "1",
          "fetchBufferSize" -> "1048576",
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain"
        ),
        streams = 2,
        logical = Vector(Active, Absent)
      ),
      Vector(
        Name(0, Absent),
        Start(ProcessingTime(60000), efo = false, failOnDataLoss = true),
        Advance(600000),
        Migrate(0, 1),
        Advance(1320000),
        Name(1, Draining),
        Put(1),
        Migrate(1, 0),
        Advance(30 * Hour)
      )
    ))
  }

  test("170070259: a stream is created and deleted between two looks for a stream that is parked and wanted") {
    run(ReadScenario(
      170070259L,
      ReadSetup(
        shards = 3,
        initialPosition = "latest",
        positionAgeMillis = Hour,
        executors = 3,
        model = ModelSettings(200, 2, 100, 50, 1000, 5000L, false),
        tasks = TaskSettings(4, 0, 0, 50, 0),
        options = Map("shardFetchInterval" -> "2s", "minFetchPeriod" -> "3s"),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Put(9),
        Advance(1560000L),
        Start(ProcessingTime(5000L), efo = false, failOnDataLoss = false),
        Advance(3227L),
        Advance(4510L),
        Migrate(1, 0),
        Advance(5121L),
        Put(24),
        Name(0, Standby),
        Fault(EndWithoutChildren, 48834L),
        Advance(1000L),
        Stop,
        Merge(4),
        Put(2),
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(17000L),
        Start(ProcessingTime(5000L), efo = false, failOnDataLoss = false),
        Advance(1628L),
        Recreate(1, 87182L),
        Advance(49000L),
        Put(1),
        Name(1, Active),
        Advance(28504L),
        Name(1, Absent),
        Put(14),
        Advance(13176L),
        PutTo(3, 1),
        Advance(16000L),
        Recreate(2, 174928L)
      )
    ))
  }
}
