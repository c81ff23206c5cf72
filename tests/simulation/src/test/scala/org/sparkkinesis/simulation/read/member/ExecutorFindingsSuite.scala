package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.service.Operation.{GetRecords, GetShardIterator, ListShards}
import org.sparkkinesis.service.ServiceErrorKind.{LimitExceeded, Throttled}
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{Failing, ListingHoles}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule.{ReadScenario, ReadSetup}
import org.sparkkinesis.simulation.spark.QueryTrigger.{AvailableNow, ProcessingTime}
import org.sparkkinesis.suite.TimedSuite

/** Schedules with a logical stream in which executors are lost, or do not get a message. */
class ExecutorFindingsSuite extends TimedSuite with ReadFindings {
  test("99028201: a shard that began without a batch is read again if its executor is lost") {
    run(ReadScenario(
      99028201L,
      ReadSetup(
        executors = 3,
        model = ModelSettings(200, 10, 100, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "fetchBufferSize" -> "1048576",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "1s",
          "removalConfirmations" -> "2",
          "alignShards" -> "1m",
          "shardFetchInterval" -> "2s",
          "maxBytesPerTrigger" -> "1k",
          "minFetchPeriod" -> "1s",
          "drainTimeout" -> "1h",
          "deaggregation.hashRangeFilter" -> "true",
          "shardsPerTask" -> "2"
        ),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(
        Start(ProcessingTime(100L), efo = false, failOnDataLoss = true),
        Advance(1512L),
        Stop,
        Advance(18567L),
        Fault(ListingHoles(3), 23932L),
        Advance(13636L),
        LoseMessages(50, 30514L),
        Advance(4855L),
        Migrate(0, 1),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(1238L),
        Split(2),
        Advance(10472L),
        Stop,
        Advance(476L),
        Name(1, Absent),
        Advance(4795L),
        Migrate(1, 0),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(3000L),
        Put(15),
        Name(1, Active),
        Advance(2000L),
        Fault(Failing(Some(GetShardIterator), Throttled, 50), 24195L),
        Split(0),
        Advance(4000L),
        Start(ProcessingTime(5000L), efo = false, failOnDataLoss = true),
        Advance(14000L),
        KillExecutor(0, 0)
      )
    ))
  }

  test("records that a lost executor had fetched are lost with their stream") {
    val outcome = run(ReadScenario(
      64036780,
      ReadSetup(
        shards = 3,
        initialPosition = "latest",
        positionAgeMillis = 82800000,
        model = ModelSettings(200, 1000, 1, 0, 1000, 5000, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20s",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "10s",
          "minFetchPeriod" -> "250ms",
          "drainTimeout" -> "1m",
          "maxRecordsPerTrigger" -> "1",
          "shardsPerTask" -> "1"
        ),
        streams = 3,
        logical = Vector(Active, Absent, Standby)
      ),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Fault(Failing(Some(ListShards), LimitExceeded, 50), 10460),
        LoseMessages(50, 18642),
        Fault(ListingHoles(4), 10991),
        Advance(21000),
        Name(2, Draining),
        Advance(46000),
        Put(9),
        Kill(0),
        Start(ProcessingTime(10000), efo = false, failOnDataLoss = false),
        Advance(1000),
        Recreate(1, 23007),
        Advance(13000),
        KillExecutor(0, 4)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("an executor that missed an assignment knows how the streams of the next one are reached") {
    run(ReadScenario(
      60011129,
      ReadSetup(
        shards = 4,
        executors = 3,
        options = Map(
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "1s",
          "alignShards" -> "2s",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "250ms",
          "drainTimeout" -> "1h",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 3,
        logical = Vector(Active, Absent, Absent)
      ),
      Vector(
        Start(ProcessingTime(5000), efo = false, failOnDataLoss = true),
        LoseMessages(100, 34064),
        Advance(1000),
        Name(1, Active),
        Advance(16000),
        PutTo(1, 8),
        Advance(10000),
        Fault(Failing(Some(GetRecords), Throttled, 80), 55830),
        Advance(17000),
        LoseMessages(100, 28636),
        Name(2, Draining),
        Advance(4000)
      )
    ))
  }
}
