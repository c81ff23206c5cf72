package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.service.Operation.{GetRecords, GetShardIterator}
import org.sparkkinesis.service.ServiceErrorKind.{Internal, Throttled}
import org.sparkkinesis.simulation.metadata.MetadataFault.OtherStream
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{Failing, ListingHoles, Unreachable}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule.{ReadScenario, ReadSetup}
import org.sparkkinesis.simulation.spark.QueryTrigger.{AvailableNow, Once, ProcessingTime}
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Schedules with streams of a logical stream that were deleted, could not be reached, or were listed with gaps. */
class GoneFindingsSuite extends TimedSuite with ReadFindings {

  test("what a stream got between its last, old answer and its deletion is reported") {
    val outcome = run(ReadScenario(
      64021310,
      ReadSetup(options = verySlow, streams = 2, logical = Vector(Active, Absent)),
      Vector(
        Migrate(0, 1),
        Start(ProcessingTime(60000), efo = false, failOnDataLoss = true),
        Advance(60000),
        Put(4),
        Recreate(2, 291238),
        Advance(780000)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("a drained stream that is named again by a driver whose clock is slow may have lost records") {
    val outcome = run(ReadScenario(
      64028284,
      ReadSetup(
        shards = 2,
        initialPosition = "at_timestamp",
        positionAgeMillis = Hour,
        executors = 2,
        model = ModelSettings(20, 2, 100, 50, 1000, 5000, false),
        tasks = TaskSettings(4, 0, 0, 5, 0),
        options = fast ++ Map(
          "onStreamRemoved" -> "park",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "5s",
          "maxBytesPerTrigger" -> "1k",
          "drainTimeout" -> "1h"
        ),
        streams = 3,
        logical = Vector(Active, Active, Absent)
      ),
      Vector(
        Put(2),
        Fault(Failing(Some(GetShardIterator), Throttled, 50), 15963),
        Start(ProcessingTime(1000), efo = false, failOnDataLoss = true),
        Migrate(2, 0),
        Advance(7459),
        Name(2, Active),
        Advance(3000),
        Stop,
        Put(1),
        Skew(-1200000),
        Advance(18000),
        Recreate(3, 207566)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("a stream that was parked beyond the last batch stays parked if another one was recreated before the restart") {
    val outcome = run(ReadScenario(
      64027024,
      ReadSetup(
        shards = 3,
        options = verySlow ++ Map(
          "onStreamRemoved" -> "drain",
          "maxTriggerDelay" -> "30s",
          "fetchBufferSize" -> "1048576",
          "drainGrace" -> "10s",
          "metadataRefreshInterval" -> "20m",
          "drainTimeout" -> "1m",
          "minRecordsPerTrigger" -> "50",
          "shardsPerTask" -> "1"
        ),
        streams = 3,
        logical = Vector(Active, Active, Standby)
      ),
      Vector(
        Migrate(2, 0),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(Hour),
        Recreate(2, 106426),
        Put(4),
        Advance(25 * Hour)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("a drained stream that is named again while the driver cannot reach it may have lost records") {
    // The seed chooses which stream is recreated.
    val outcomes = (64036632L to 64036641L).map(seed =>
      run(ReadScenario(
        seed,
        ReadSetup(
          shards = 4,
          model = ModelSettings(20, 1000, 2, 50, 1000, 5000, false),
          options = fast ++ Map(
            "onStreamRemoved" -> "park",
            "fetchBufferSize" -> "1048576",
            "drainGrace" -> "0ms",
            "metadataRefreshInterval" -> "20s",
            "removalConfirmations" -> "2",
            "maxBytesPerTrigger" -> "1k",
            "drainTimeout" -> "1h",
            "deaggregation.hashRangeFilter" -> "true",
            "shardsPerTask" -> "2"
          ),
          streams = 3,
          logical = Vector(Active, Absent, Standby)
        ),
        Vector(
          Start(ProcessingTime(5000), efo = false, failOnDataLoss = false),
          Advance(23235),
          Name(0, Draining),
          Advance(16000),
          Name(1, Draining),
          Advance(5000),
          PutAggregate(4, 1),
          Advance(7000),
          Name(0, Active),
          Stop,
          Start(Once, efo = true, failOnDataLoss = false),
          Advance(6000),
          Fault(Unreachable("driver"), 45200),
          Put(2),
          Advance(35560),
          Recreate(2, 185921)
        )
      ))
    )
    assert(outcomes.exists(_.losses > 0))
  }

  test("a consumer of an earlier run is not deregistered while its stream joins") {
    run(ReadScenario(
      65009031,
      ReadSetup(
        options = Map("shardFetchInterval" -> "2s", "minFetchPeriod" -> "250ms"),
        streams = 3,
        logical = Vector(Active, Active, Absent)
      ),
      Vector(
        Start(Once, efo = false, failOnDataLoss = true),
        Advance(2000),
        Put(4),
        Migrate(2, 0),
        PutTo(1, 5),
        PutTo(2, 1),
        Start(ProcessingTime(5000), efo = true, failOnDataLoss = true),
        Advance(8000),
        Kill(0),
        Start(ProcessingTime(10000), efo = true, failOnDataLoss = true),
        Kill(0),
        Advance(5000),
        Start(ProcessingTime(5000), efo = true, failOnDataLoss = true)
      )
    ))
  }

  test("shards of listings that lack others are not forgotten") {
    val outcome = run(ReadScenario(
      64047078,
      ReadSetup(
        shards = 3,
        initialPosition = "at_timestamp",
        positionAgeMillis = 60000,
        model = ModelSettings(5, 1000, 100, 50, 1000, 5000, false),
        options = Map("shardFetchInterval" -> "10s", "minFetchPeriod" -> "250ms"),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(
        Put(6),
        Start(Once, efo = false, failOnDataLoss = true),
        Advance(2000),
        Fault(Failing(Some(GetRecords), Throttled, 80), 56849),
        Name(1, Draining),
        Fault(ListingHoles(2), 55252),
        Merge(1),
        Put(20),
        Fault(ListingHoles(3), 17941),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(11000),
        Put(57),
        Advance(19000)
      )
    ))
    assert(outcome.losses == 0)
  }

  test("a shard that the listings of a restart lack is not read before its hash keys are known") {
    run(ReadScenario(
      67012589,
      ReadSetup(
        shards = 2,
        executors = 3,
        model = ModelSettings(200, 2, 2, 50, 1000, 5000, false),
        tasks = TaskSettings(4, 0, 0, 0, 0),
        options = Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20s",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "10s",
          "minFetchPeriod" -> "3s",
          "drainTimeout" -> "1h",
          "deaggregation.hashRangeFilter" -> "true",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(309),
        Stop,
        PutTo(3, 1),
        FailMetadata(OtherStream, 29539),
        Advance(253),
        Advance(2000),
        Advance(350),
        Fault(ListingHoles(2), 45871),
        Advance(1000),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(2000),
        Advance(9000),
        Advance(2000),
        Advance(386),
        Advance(561),
        PutAggregate(2, 1),
        Advance(7000),
        Advance(8000)
      )
    ))
  }

  test("160020421: a stream that was recreated is open, and its enhanced fan-out consumer cannot be registered") {
    run(ReadScenario(
      160020421L,
      ReadSetup(
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        tasks = TaskSettings(4, 10, 0, 50, 30),
        options = Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "10s",
          "metadataRefreshInterval" -> "20s",
          "removalConfirmations" -> "2",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "3s",
          "drainTimeout" -> "1h"
        ),
        streams = 3,
        logical = Vector(Active, Active, Absent)
      ),
      Vector(
        Put(16),
        Migrate(0, 1),
        Start(ProcessingTime(1000L), efo = true, failOnDataLoss = true),
        KillExecutor(2, 0),
        Advance(16000L),
        LoseMessages(50, 15479L),
        Advance(21003L),
        Fault(Failing(None, Internal, 10), 49725L),
        Advance(259L),
        Recreate(3, 122335L),
        Advance(3000L),
        Stop,
        Start(ProcessingTime(5000L), efo = true, failOnDataLoss = true),
        Advance(6000L),
        Migrate(2, 0),
        Advance(15000L),
        Fault(Unreachable("*"), 52515L),
        Advance(18000L),
        PutTo(1, 1)
      )
    ))
  }
}
