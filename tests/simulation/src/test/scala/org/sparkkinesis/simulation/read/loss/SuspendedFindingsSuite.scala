package org.sparkkinesis.simulation.read.loss

import org.sparkkinesis.service.{Operation, ServiceErrorKind}
import org.sparkkinesis.simulation.metadata.MetadataFault.Slow
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.Failing
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.suite.TimedSuite

/** Fixed failures around machines that are suspended: the clocks move, and the running time does not. */
class SuspendedFindingsSuite extends TimedSuite with ReadFindings {
  test("what expires while the machines are suspended is reported, although the driver's running time stands still") {
    val outcome = run(ReadScenario(
      1L,
      ReadSetup(model = ModelSettings(recordsPerAnswer = 2), options = slow),
      Vector(
        Put(5),
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Advance(2 * Minute),
        Fault(Failing(Some(Operation.GetRecords), ServiceErrorKind.Throttled, 100), 10 * Minute),
        Put(20),
        Advance(Minute),
        Suspend(43 * Hour),
        Put(5),
        Advance(10 * Minute)
      )
    ))
    assert(outcome.losses > 0 && outcome.delivered < outcome.records)
  }

  test("what expires while the machines are suspended is reported, although the stream gets no record after that") {
    val outcome = run(ReadScenario(
      95004772L,
      ReadSetup(
        shards = 2,
        executors = 2,
        model = ModelSettings(5, 10, 1, 0, 1000, 5000, false),
        options = Map(
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "5s",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "3s",
          "drainTimeout" -> "1h",
          "maxRecordsPerTrigger" -> "30",
          "onStreamRemoved" -> "drain"
        ),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(4000),
        Put(1),
        FailMetadata(Slow(8), 58942),
        Start(ProcessingTime(5000), efo = false, failOnDataLoss = true),
        Advance(3000),
        Name(0, Draining),
        Suspend(118598026),
        Advance(16000)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("a suspension is reported once for each shard, and once more until the executors know the time") {
    val outcome = run(ReadScenario(
      2L,
      ReadSetup(options = slow),
      Vector(
        Put(5),
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Advance(6 * Minute),
        Suspend(43 * Hour),
        Advance(2 * Hour)
      )
    ))
    assert(outcome.losses > 0 && outcome.losses <= 6, "shards are listed every five minutes")
  }

  test("96001744: a driver whose machine was suspended holds shards of a parked stream for its running time") {
    run(ReadScenario(
      96001744L,
      ReadSetup(
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "park",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "5s",
          "removalConfirmations" -> "1",
          "alignShards" -> "1m",
          "shardFetchInterval" -> "10s",
          "minFetchPeriod" -> "3s",
          "drainTimeout" -> "1m"
        ),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Name(1, Draining),
        Start(ProcessingTime(1000L), efo = false, failOnDataLoss = true),
        Advance(1000L),
        Name(1, Active),
        Advance(16000L),
        Suspend(67080530L),
        Advance(1000L)
      )
    ))
  }

  test("97001520: a stream may have been parked before the machine was suspended, which the checkpoint does not have") {
    run(ReadScenario(
      97001520L,
      ReadSetup(
        executors = 3,
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "10s",
          "metadataRefreshInterval" -> "5s",
          "removalConfirmations" -> "2",
          "shardFetchInterval" -> "10s",
          "minFetchPeriod" -> "250ms",
          "drainTimeout" -> "1h",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 3,
        logical = Vector(Active, Absent, Active)
      ),
      Vector(
        Start(AvailableNow, efo = true, failOnDataLoss = false),
        Advance(255L),
        Name(0, Absent),
        Advance(16000L),
        Start(ProcessingTime(5000L), efo = false, failOnDataLoss = false),
        Advance(9000L),
        Suspend(108194360L),
        Name(1, Draining),
        Advance(15000L)
      )
    ))
  }

  test("in real-time mode, two suspensions that are shorter than the retention period lose nothing") {
    Seq("trim_horizon", "latest").foreach { position =>
      val outcome = run(ReadScenario(
        3L,
        ReadSetup(initialPosition = position, options = fast),
        Vector(
          Start(RealTime(Minute), efo = false, failOnDataLoss = true),
          Advance(Minute),
          Put(5),
          Advance(3 * Minute),
          Suspend(13 * Hour),
          Advance(3 * Minute),
          Suspend(12 * Hour),
          Advance(3 * Minute),
          Put(5),
          Advance(5 * Minute)
        )
      ))
      assert(outcome.losses == 0 && outcome.delivered == outcome.records, position)
    }
  }

  test("120066511: the initial position may expire while the machines are suspended before the first fetch") {
    run(ReadScenario(
      120066511L,
      ReadSetup(
        initialPosition = "at_timestamp",
        positionAgeMillis = 23 * Hour,
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        options = Map("shardFetchInterval" -> "10s", "minFetchPeriod" -> "3s"),
        streams = 3,
        logical = Vector(Active, Absent, Standby)
      ),
      Vector(
        Start(Once, efo = true, failOnDataLoss = true),
        Advance(3000L),
        Suspend(49548025L),
        PutTo(0, 1)
      )
    ))
  }

  test("130020469: the machine is suspended while the service's first answer is on its way, which says no time then") {
    run(ReadScenario(
      130020469L,
      ReadSetup(
        shards = 2,
        executors = 3,
        model = ModelSettings(200, 2, 100, 0, 1000, 5000L, false),
        options = Map("shardFetchInterval" -> "10s", "minFetchPeriod" -> "250ms"),
        streams = 3,
        logical = Vector(Active, Standby, Standby)
      ),
      Vector(
        Put(9),
        Start(ProcessingTime(100L), efo = false, failOnDataLoss = true),
        Advance(10000L),
        Stop,
        Advance(13000L),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(131L),
        Suspend(51104655L)
      )
    ))
  }
}
