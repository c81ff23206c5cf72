package org.sparkkinesis.simulation.read

import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{EndWithoutChildren, StaleListing, Unreachable}
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Fixed failures of tasks that read from the service, because no executor holds the records of their ranges. */
class DirectReadFindingsSuite extends TimedSuite with ReadFindings {
  test("seed 61060: Once reads the records of an ended shard that were dropped to make room before a full report") {
    run(ReadScenario(
      61060L,
      ReadSetup(
        model = ModelSettings(200, 10, 1, 50, 1000, 5000L),
        options = Map("minFetchPeriod" -> "250ms", "shardFetchInterval" -> "2s", "fetchBufferSize" -> "1048576"),
        streams = 2,
        recordBytes = 1047576
      ),
      Vector(
        Put(10),
        Start(ProcessingTime(10000L), false, false),
        Advance(17000L),
        Put(10),
        Stop,
        PutTo(2, 10),
        Put(10),
        Split(0),
        Fault(EndWithoutChildren, 37701L),
        Start(Once, false, false),
        Advance(13000L),
        LoseMessages(100, 42771L),
        Advance(9000L)
      )
    ))
  }

  test("seed 6789: Once reads the records of an open shard that were dropped to make room before a full report") {
    run(ReadScenario(
      6789L,
      ReadSetup(
        shards = 4,
        executors = 2,
        model = ModelSettings(20, 2, 1, 0, 1000, 15000L),
        options = Map(
          "minFetchPeriod" -> "4m",
          "shardFetchInterval" -> "20m",
          "maxBytesPerTrigger" -> "1k",
          "fetchBufferSize" -> "1048576"
        ),
        streams = 2,
        recordBytes = 100000
      ),
      Vector(
        Merge(3),
        Split(0),
        PutTo(3, 19),
        Advance(3600000L),
        Put(3),
        Start(Once, false, false),
        Advance(60000L),
        Advance(120000L),
        LoseMessages(10, 34950L),
        Advance(3600000L)
      )
    ))
  }

  test("seed 80473: large records that tasks read from the service use up the quota, with a limit of records") {
    run(ReadScenario(
      80473L,
      ReadSetup(
        executors = 2,
        model = ModelSettings(5, 10, 100, 0, 1000, 5000L),
        tasks = TaskSettings(4, 0, 20, 50, 30),
        options = Map(
          "fetchBufferSize" -> "1048576",
          "shardFetchInterval" -> "10s",
          "minFetchPeriod" -> "1s",
          "deaggregation.hashRangeFilter" -> "true",
          "maxRecordsPerTrigger" -> "1",
          "shardsPerTask" -> "2"
        ),
        recordBytes = 1047576
      ),
      Vector(
        PutTo(0, 10),
        PutTo(2, 10),
        Advance(407L)
      )
    ))
  }

  test("seed 58871: large records that tasks read from the service use up the quota, with a limit of bytes") {
    run(ReadScenario(
      58871L,
      ReadSetup(
        executors = 2,
        model = ModelSettings(5, 10, 2, 50, 1000, 5000L),
        tasks = TaskSettings(4, 0, 20, 50, 30),
        options = Map(
          "minFetchPeriod" -> "3s",
          "shardFetchInterval" -> "2s",
          "maxBytesPerTrigger" -> "1k",
          "shardsPerTask" -> "1"
        ),
        recordBytes = 1047576
      ),
      Vector(
        Advance(12508L),
        Put(5),
        Put(6)
      )
    ))
  }

  test("seed 36707: large records that tasks read from the service use up the quota, with failing tasks") {
    run(ReadScenario(
      36707L,
      ReadSetup(
        executors = 2,
        tasks = TaskSettings(4, 10, 0, 50, 30),
        options = Map("minFetchPeriod" -> "3s", "shardFetchInterval" -> "10s", "maxRecordsPerTrigger" -> "1"),
        recordBytes = 1047576
      ),
      Vector(
        Merge(7),
        PutTo(2, 10),
        PutTo(1, 5),
        Advance(3000L)
      )
    ))
  }

  test("seed 39691: large records that tasks read from the service use up the quota, with speculative tasks") {
    run(ReadScenario(
      39691L,
      ReadSetup(
        initialPosition = "latest",
        positionAgeMillis = 108000000L,
        executors = 3,
        tasks = TaskSettings(4, 10, 20, 50, 30),
        options = Map(
          "minFetchPeriod" -> "250ms",
          "shardFetchInterval" -> "10s",
          "maxBytesPerTrigger" -> "1k",
          "fetchBufferSize" -> "1048576"
        ),
        recordBytes = 1047576
      ),
      Vector(
        Put(1),
        Start(AvailableNow, true, true),
        Put(10),
        Advance(19170L),
        PutTo(2, 5)
      )
    ))
  }

  test(
    "by hand: records that expire between the check of a batch that runs again and the read of its task are reported"
  ) {
    killed(steps =>
      ReadScenario(
        1,
        ReadSetup(options = fast),
        Vector(
          Put(3),
          Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
          Advance(5 * Minute),
          Put(3),
          Advance(35 * Minute),
          Put(3),
          Advance(20 * Minute - 1000),
          Kill(steps),
          Advance(23 * Hour - 5 * Minute),
          Fault(Unreachable("executor"), 15 * Minute),
          Start(ProcessingTime(10000L), efo = false, failOnDataLoss = false),
          Advance(Hour)
        )
      )
    )
  }

  test("94762: the first record of a batch arrived in the millisecond of the last one before, and expires") {
    run(ReadScenario(
      94762L,
      ReadSetup(
        shards = 4,
        executors = 3,
        model = ModelSettings(5, 1000, 100, 0, 1000, 15000L, lateEnds = true),
        tasks = TaskSettings(4, 0, 0, 50, 30),
        options = verySlow ++
          Map("maxTriggerDelay" -> "30s", "fetchBufferSize" -> "1048576", "minRecordsPerTrigger" -> "50"),
        streams = 2
      ),
      Vector(
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Advance(Minute),
        Advance(22 * Minute),
        Put(1),
        Put(53),
        Advance(6000L),
        Stop,
        Advance(9 * Minute),
        Advance(Hour),
        Advance(9 * Minute),
        Put(1),
        Advance(18 * Minute),
        Advance(33360000L),
        Put(6),
        Advance(44280000L),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false)
      )
    ))
  }

  test("31018014: a batch that runs again is filtered by hash keys also if the first listing lacks its shards") {
    run(ReadScenario(
      31018014L,
      ReadSetup(
        initialPosition = "latest",
        positionAgeMillis = 23 * Hour,
        executors = 3,
        options = Map(
          "minFetchPeriod" -> "3s",
          "shardFetchInterval" -> "10s",
          "deaggregation.hashRangeFilter" -> "true",
          "alignShards" -> "2s"
        ),
        streams = 3
      ),
      Vector(
        Put(16),
        Start(ProcessingTime(100L), efo = true, failOnDataLoss = true),
        Fault(StaleListing(19), 32744L),
        Advance(5000L),
        Split(4),
        Kill(5),
        Advance(1000L),
        PutAggregate(3, 1),
        Put(3),
        Advance(172L),
        Start(ProcessingTime(5000L), efo = true, failOnDataLoss = false),
        Advance(2000L)
      )
    ))
  }

  test("110015519: records expire between two responses to a task that reads them again") {
    run(ReadScenario(
      110015519L,
      ReadSetup(
        model = ModelSettings(20, 2, 100, 50, 1000, 15000L, false),
        tasks = TaskSettings(4, 10, 0, 50, 30),
        options = verySlow ++ Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "10s",
          "metadataRefreshInterval" -> "5m",
          "removalConfirmations" -> "2",
          "drainTimeout" -> "1h",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 2,
        logical = Vector(Active, Absent)
      ),
      Vector(
        Put(18),
        Advance(78648000L),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(331545L),
        Name(1, Draining),
        Advance(2224753L),
        Stop,
        Advance(1588000L),
        PutAggregate(4, 1),
        Advance(3000L),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = true),
        Advance(1740000L),
        PutTo(0, 1),
        Advance(3600000L)
      )
    ))
  }

  test("220025409: a record after the start of a query with `latest` seems to have arrived before it") {
    run(ReadScenario(
      220025409L,
      ReadSetup(
        1,
        24,
        "latest",
        108000000L,
        2,
        ModelSettings(5, 10, 1, 50, 1000, 5000L, false),
        TaskSettings(4, 0, 0, 50, 30),
        Map("shardFetchInterval" -> "10s", "minFetchPeriod" -> "1s"),
        3,
        1,
        Vector(Active, Absent, Active)
      ),
      Vector(
        Put(1),
        Start(AvailableNow, false, true),
        Advance(21L),
        Put(3)
      )
    ))
  }
}
