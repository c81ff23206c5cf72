package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.service.Operation.GetRecords
import org.sparkkinesis.service.ServiceErrorKind.{ExpiredIterator, Network, Throttled}
import org.sparkkinesis.simulation.metadata.MetadataFault.{Down, Empty, Slow}
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{Failing, ListingHoles, Unreachable}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule.{ReadScenario, ReadSetup}
import org.sparkkinesis.simulation.spark.QueryTrigger.{AvailableNow, ProcessingTime}
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Schedules in which the query parks streams, reads them again, or begins shards, before an offset has that. */
class ParkedFindingsSuite extends TimedSuite with ReadFindings {

  test("97019507: a drained stream gets a record, and is gone before the query hears that it is named again") {
    run(ReadScenario(
      97019507L,
      ReadSetup(
        shards = 3,
        model = ModelSettings(5, 2, 2, 50, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "5s",
          "removalConfirmations" -> "2",
          "shardFetchInterval" -> "10s",
          "maxBytesPerTrigger" -> "1k",
          "minFetchPeriod" -> "3s",
          "drainTimeout" -> "1m"
        ),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Put(15),
        Start(ProcessingTime(100L), efo = false, failOnDataLoss = false),
        Advance(469L),
        Split(2),
        Advance(1585L),
        FailMetadata(Empty, 51999L),
        Merge(6),
        Advance(10109L),
        Name(1, Standby),
        Fault(ListingHoles(2), 48490L),
        Advance(18007L),
        LoseMessages(50, 21942L),
        Advance(3454L),
        PutAggregate(4, 0),
        Advance(3841L),
        LoseMessages(50, 35254L),
        Advance(279L),
        PutAggregate(5, 0),
        Advance(13659L),
        Merge(3),
        Advance(4804L),
        Put(3),
        Advance(7533L),
        LoseMessages(50, 5982L),
        Advance(4000L),
        KillExecutor(2, 0),
        Advance(16000L),
        FailMetadata(Slow(4), 33114L),
        Advance(15000L),
        PutTo(3, 1),
        Advance(5000L),
        Migrate(0, 1),
        LoseMessages(100, 29810L),
        Advance(7000L),
        Fault(Unreachable("*"), 52460L),
        Advance(16000L),
        Recreate(1, 271141L)
      )
    ))
  }

  test("98009086: a stream that the metadata log parks is dropped in time, although its batch came much later") {
    run(ReadScenario(
      98009086L,
      ReadSetup(
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        options = verySlow ++ Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "park",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "1",
          "drainTimeout" -> "1h",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 2,
        logical = Vector(Active, Absent)
      ),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(300000L),
        Name(0, Absent),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = true),
        Advance(60000L),
        Name(1, Draining),
        Advance(7200000L)
      )
    ))
  }

  test("99020856: the driver holds shards of a stream that is read again, which no offset says for hours") {
    run(ReadScenario(
      99020856L,
      ReadSetup(
        shards = 3,
        initialPosition = "latest",
        positionAgeMillis = 23 * Hour,
        executors = 2,
        model = ModelSettings(200, 2, 100, 50, 1000, 15000L, false),
        tasks = TaskSettings(4, 0, 20, 50, 30),
        options = verySlow ++ Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "fetchBufferSize" -> "1048576",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "1",
          "drainTimeout" -> "1h"
        ),
        streams = 3,
        logical = Vector(Active, Standby, Absent)
      ),
      Vector(
        Put(19),
        Fault(Failing(None, Network, 10), 2577365L),
        Migrate(0, 1),
        Advance(60000L),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = true),
        Advance(51000L),
        Name(1, Active),
        Advance(2940000L),
        Put(2),
        Advance(1102000L),
        FailMetadata(Down, 982232L),
        Fault(Failing(Some(GetRecords), Throttled, 80), 3159533L),
        Kill(2),
        Migrate(2, 0),
        LoseMessages(100, 42602L),
        Advance(3600000L),
        Migrate(1, 2),
        Name(1, Active),
        LoseMessages(10, 44902L),
        Advance(41000L),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = true),
        Advance(108000000L)
      )
    ))
  }

  test("120042265: a stream that followed a drained one is read, and is replaced by a third one with unread records") {
    val outcome = run(ReadScenario(
      120042265L,
      ReadSetup(
        executors = 3,
        model = ModelSettings(20, 1000, 100, 50, 1000, 15000L, false),
        tasks = TaskSettings(4, 0, 0, 50, 30),
        options = verySlow ++ Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "5m",
          "removalConfirmations" -> "2",
          "drainTimeout" -> "1h"
        ),
        streams = 2,
        logical = Vector(Active, Absent)
      ),
      Vector(
        Put(12),
        Start(AvailableNow, efo = true, failOnDataLoss = false),
        Put(16),
        PutTo(0, 13),
        Advance(43200000L),
        PutTo(3, 13),
        PutTo(0, 2),
        Put(13),
        Advance(36000000L),
        Migrate(0, 1),
        Start(ProcessingTime(3600000L), efo = true, failOnDataLoss = false),
        Advance(3801302L),
        Name(0, Active),
        Recreate(3, 122633L),
        Advance(60000L),
        Put(1),
        PutTo(1, 8),
        Advance(2739522L),
        FailMetadata(Down, 1610909L),
        Advance(764000L),
        Put(4),
        Advance(187000L),
        Recreate(2, 215699L)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("120075237: the report that a stream was deleted is about all its shards") {
    run(ReadScenario(
      120075237L,
      ReadSetup(
        shards = 4,
        initialPosition = "latest",
        positionAgeMillis = Minute,
        executors = 2,
        model = ModelSettings(5, 2, 2, 50, 1000, 5000L, false),
        tasks = TaskSettings(4, 10, 20, 50, 0),
        options = Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20s",
          "removalConfirmations" -> "1",
          "alignShards" -> "1m",
          "shardFetchInterval" -> "10s",
          "minFetchPeriod" -> "250ms",
          "drainTimeout" -> "1h",
          "deaggregation.hashRangeFilter" -> "true"
        ),
        streams = 3,
        logical = Vector(Active, Active, Absent)
      ),
      Vector(
        Put(6),
        Advance(780000L),
        Start(ProcessingTime(10000L), efo = false, failOnDataLoss = true),
        Advance(1982L),
        LoseExecutor(1),
        Advance(1425L),
        PutTo(2, 7),
        Advance(3873L),
        Put(3),
        Advance(6446L),
        Put(10),
        Advance(11993L),
        PutTo(3, 17),
        Advance(24759L),
        Fault(Failing(Some(GetRecords), ExpiredIterator, 80), 5445L),
        Advance(12169L),
        Put(24),
        Advance(3323L),
        Kill(5),
        Advance(3579L),
        Recreate(3, 136997L),
        Advance(70000L),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(4000L)
      )
    ))
  }

  test("170066576: a stream is dropped exactly after its retention, by the query's time of parking it") {
    run(ReadScenario(
      170066576L,
      ReadSetup(
        shards = 3,
        initialPosition = "at_timestamp",
        positionAgeMillis = 1000L,
        model = ModelSettings(20, 2, 1, 50, 1000, 15000L, false),
        tasks = TaskSettings(4, 10, 0, 50, 0),
        options = Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "5m",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "20m",
          "minFetchPeriod" -> "4m",
          "drainTimeout" -> "1h",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 3,
        logical = Vector(Active, Standby, Active)
      ),
      Vector(
        Put(10),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = true),
        Name(0, Absent),
        Advance(2160000L),
        Fault(Failing(Some(GetRecords), ExpiredIterator, 20), 3108026L),
        Advance(2100000L),
        Name(2, Absent),
        PutTo(0, 7),
        Name(1, Active),
        Advance(7200000L)
      )
    ))
  }
}
