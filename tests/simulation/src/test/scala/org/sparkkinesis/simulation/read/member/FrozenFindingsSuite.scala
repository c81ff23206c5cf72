package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.service.Operation.{GetRecords, ListShards}
import org.sparkkinesis.service.ServiceErrorKind.{LimitExceeded, Network, Throttled}
import org.sparkkinesis.simulation.metadata.MetadataFault.{Down, Lacking}
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{EndWithoutChildren, Failing}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.suite.TimedSuite

/** Schedules in which an answer of the service is older than its receipt. */
class FrozenFindingsSuite extends TimedSuite with ReadFindings {
  private val setup = ReadSetup(
    model = ModelSettings(latencyMillis = 200),
    options = Map(
      "minFetchPeriod" -> "250ms",
      "shardFetchInterval" -> "10s",
      "metadataRefreshInterval" -> "1s",
      "drainGrace" -> "0ms"
    ),
    streams = 2,
    logical = Vector(Active, Active)
  )

  /** Runs these actions while the executor stands still, which begins at several points between two answers. */
  private def frozen(millis: Long)(meanwhile: ReadAction*): Unit =
    for (efo <- Seq(false, true); offset <- 0 until 20) run(ReadScenario(
      offset.toLong,
      setup,
      Vector(
        PutTo(0, 1),
        PutTo(1, 1),
        Start(ProcessingTime(100), efo, failOnDataLoss = false),
        Advance(20000L + 20 * offset),
        Freeze(0, millis),
        Advance(500)
      ) ++ meanwhile :+ Advance(5 * Minute)
    ))

  test("a stream is deleted with unread records while its executor stands still, and has an answer from before") {
    frozen(Minute)(PutTo(0, 1), PutTo(1, 1), Advance(1000), Recreate(1, 100000))
  }

  test("a stream gets records before it leaves while its executor stands still, and has an answer from before") {
    frozen(2 * Minute)(PutTo(1, 1), Advance(1000), Name(1, Draining))
  }

  test("a stream leaves while its executor has no room for the events that the service has sent") {
    for (grace <- Seq("0ms", "10s"); count <- 1 to 20) run(ReadScenario(
      count.toLong,
      setup.copy(
        recordBytes = 100000,
        options = setup.options ++
          Map("fetchBufferSize" -> "1048576", "maxRecordsPerTrigger" -> "3", "drainGrace" -> grace)
      ),
      Vector(
        Start(ProcessingTime(20000), efo = true, failOnDataLoss = false),
        Advance(20000L),
        PutTo(1, 20 + count),
        Advance(30000),
        PutTo(1, 1),
        Name(1, Draining),
        Advance(30 * Minute)
      )
    ))
  }

  test("an executor stands still until a batch has given its shards a time, and then has its first answers") {
    for (seed <- 1 to 20; efo <- Seq(false, true)) run(ReadScenario(
      seed.toLong,
      ReadSetup(4, executors = 2, options = Map("minFetchPeriod" -> "250ms", "shardFetchInterval" -> "10s")),
      Vector(
        Put(20),
        Advance(30 * Hour),
        Put(20),
        Start(ProcessingTime(100), efo, failOnDataLoss = true),
        Freeze(seed % 2, 30000),
        Advance(5 * Minute)
      )
    ))
  }

  test("220030201: the answers of a recreated stream count for the one that was deleted with unread records") {
    run(ReadScenario(
      220030201L,
      ReadSetup(
        3,
        executors = 3,
        model = ModelSettings(5, 10, 2, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "maxTriggerDelay" -> "30s",
          "fetchBufferSize" -> "1048576",
          "drainGrace" -> "10s",
          "metadataRefreshInterval" -> "1s",
          "removalConfirmations" -> "1",
          "alignShards" -> "2s",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "1s",
          "drainTimeout" -> "1h",
          "shardsPerTask" -> "1",
          "deaggregation.hashRangeFilter" -> "true",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 3,
        logical = Vector(Active, Active, Absent)
      ),
      Vector(
        Put(11),
        Start(ProcessingTime(5000L), false, true),
        Advance(17000L),
        Name(2, Draining),
        Fault(Failing(Some(GetRecords), Throttled, 80), 45290L),
        Advance(1601L),
        Stop,
        Fault(EndWithoutChildren, 7807L),
        Advance(5000L),
        Merge(6),
        Advance(1000L),
        Advance(1000L),
        Start(ProcessingTime(100L), false, false),
        Advance(9721L),
        Freeze(2, 35108L),
        Freeze(1, 35108L),
        Advance(10000L),
        Put(5),
        LoseExecutor(1),
        Advance(3335L),
        Advance(2573L),
        Recreate(2, 12530L),
        Advance(14000L)
      )
    ))
  }

  test("240020083: a listing of a recreated stream hides the shards of the deleted one that are not read") {
    run(ReadScenario(
      240020083L,
      ReadSetup(
        2,
        model = ModelSettings(20, 2, 1, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "365d",
          "fetchBufferSize" -> "1048576",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20s",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "250ms",
          "drainTimeout" -> "1h"
        ),
        streams = 2,
        logical = Vector(Active, Absent)
      ),
      Vector(
        Put(9),
        Start(AvailableNow, false, true),
        Advance(104L),
        Stop,
        Recreate(2, 168700L),
        Recreate(1, 250534L),
        Put(44),
        Merge(0),
        Split(4),
        Put(3),
        FailMetadata(Down, 43520L),
        Merge(4),
        Advance(3000L),
        Advance(19574L),
        Advance(1000L),
        Fault(Failing(Some(ListShards), LimitExceeded, 50), 44094L),
        Advance(10657L),
        Advance(3113L),
        Put(2),
        Start(ProcessingTime(10000L), false, true),
        Migrate(1, 0),
        Split(6),
        Advance(5147L),
        FailMetadata(Lacking(1), 30853L),
        Advance(44L),
        Advance(53L),
        Name(0, Absent),
        Recreate(3, 32649L),
        Advance(2723L),
        Advance(4563L),
        Advance(1000L),
        Fault(Failing(None, Network, 50), 37627L),
        Advance(2283L),
        Freeze(0, 91112L),
        Advance(25000L),
        Put(1)
      )
    ))
  }

  test("240029864: records expire before an executor that stands still has its first answer") {
    run(ReadScenario(
      240029864L,
      ReadSetup(
        4,
        executors = 3,
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "maxTriggerDelay" -> "30s",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "1s",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "1s",
          "drainTimeout" -> "1h",
          "deaggregation.hashRangeFilter" -> "true",
          "minRecordsPerTrigger" -> "50"
        ),
        streams = 3,
        logical = Vector(Active, Absent, Standby)
      ),
      Vector(
        FailMetadata(Down, 56167L),
        Advance(5000L),
        Migrate(2, 0),
        Advance(18000L),
        Put(4),
        Advance(9000L),
        Start(ProcessingTime(100L), false, false),
        Advance(23000L),
        Freeze(2, 102723L),
        Advance(19000L),
        Suspend(172955486L)
      )
    ))
  }

  test("270097050: the records of a child are lost with its executor, and its parents are not read any more") {
    run(ReadScenario(
      270097050L,
      ReadSetup(
        2,
        initialPosition = "latest",
        positionAgeMillis = 3600000L,
        model = ModelSettings(20, 1000, 1, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "park",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "5s",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "3s",
          "drainTimeout" -> "1h",
          "maxRecordsPerTrigger" -> "5",
          "shardsPerTask" -> "1"
        ),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Put(15),
        Advance(3600000L),
        Start(AvailableNow, false, true),
        Advance(15000L),
        Put(2),
        Start(ProcessingTime(5000L), false, true),
        Advance(5000L),
        Merge(2),
        Advance(241L),
        Split(5),
        Advance(755L),
        Freeze(0, 30509L),
        Advance(4331L),
        Put(1),
        Advance(6382L),
        Recreate(2, 40678L),
        Advance(1000L),
        Advance(4497L),
        AddExecutor,
        Advance(3000L),
        Advance(1000L),
        PutTo(1, 2),
        Advance(10000L),
        KillExecutor(1, 0),
        Advance(9000L)
      )
    ))
  }
}
