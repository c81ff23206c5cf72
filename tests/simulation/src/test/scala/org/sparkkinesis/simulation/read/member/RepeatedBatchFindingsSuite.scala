package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Fixed failures around batches of an earlier run whose streams joined or returned with the batch. */
class RepeatedBatchFindingsSuite extends TimedSuite with ReadFindings {
  test("38011879: the first records of a stream that joined with a batch expire before the batch runs again") {
    run(ReadScenario(
      38011879L,
      ReadSetup(
        initialPosition = "latest",
        positionAgeMillis = 1000L,
        executors = 2,
        model = ModelSettings(20, 1000, 2, 50, 1000, 15000L),
        tasks = TaskSettings(4, 10, 0, 50, 30),
        options = slow ++ Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "3",
          "drainTimeout" -> "1h",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(
        Put(1),
        Start(ProcessingTime(3600000L), efo = true, failOnDataLoss = true),
        Advance(395000L),
        Name(1, Active),
        PutAggregate(5, 0),
        Advance(3579000L),
        AddExecutor,
        Advance(1020000L),
        Kill(2),
        Advance(60000L),
        Split(5),
        Advance(18480000L),
        PutTo(3, 13),
        Advance(6794000L),
        Split(4),
        Advance(52500000L),
        Start(ProcessingTime(3600000L), efo = true, failOnDataLoss = true),
        Advance(4680000L)
      )
    ))
  }

  test("130073403: the first records of a stream that returned with a batch expire before the batch runs again") {
    run(ReadScenario(
      130073403L,
      ReadSetup(
        model = ModelSettings(200, 1000, 100, 0, 1000, 15000L, false),
        options = Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "20m",
          "minFetchPeriod" -> "4m",
          "drainTimeout" -> "1h",
          "minRecordsPerTrigger" -> "50",
          "shardsPerTask" -> "2"
        ),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(480000L),
        Name(1, Absent),
        Name(0, Draining),
        Split(7),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(3600000L),
        Stop,
        Put(2),
        Advance(3600000L),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Advance(3600000L),
        Migrate(0, 1),
        Advance(960000L),
        Put(1),
        Advance(28800000L),
        PutTo(3, 1),
        Advance(46800000L),
        Start(ProcessingTime(60000L), efo = false, failOnDataLoss = false),
        Advance(120000L),
        Kill(8),
        Advance(36000000L)
      )
    ))
  }

  test("140002660: the first records of a batch arrived long after the records before them") {
    run(ReadScenario(
      140002660L,
      ReadSetup(
        shards = 4,
        initialPosition = "latest",
        positionAgeMillis = Hour,
        executors = 2,
        model = ModelSettings(20, 2, 2, 0, 1000, 15000L, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "3",
          "alignShards" -> "6h",
          "shardFetchInterval" -> "20m",
          "maxBytesPerTrigger" -> "1k",
          "minFetchPeriod" -> "4m",
          "drainTimeout" -> "1m",
          "deaggregation.hashRangeFilter" -> "true",
          "shardsPerTask" -> "2"
        ),
        streams = 2,
        logical = Vector(Active, Standby)
      ),
      Vector(
        Put(19),
        Advance(43200000L),
        Start(Once, efo = true, failOnDataLoss = false),
        Advance(3600000L),
        Put(41),
        Migrate(0, 1),
        Start(AvailableNow, efo = true, failOnDataLoss = false),
        Advance(1080000L),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(1740000L),
        Advance(1800000L),
        Kill(8),
        Name(1, Active),
        Advance(36000000L)
      )
    ))
  }
}
