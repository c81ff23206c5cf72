package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.simulation.metadata.MetadataFault.Slow
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{ListingHoles, Unreachable}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.suite.TimedSuite

/** Fixed failures around the times of the entries in the metadata log. */
class MemberTimeFindingsSuite extends TimedSuite with ReadFindings {
  test("211001987: the first entry of a run, whose clock is ahead, returns a drained stream that is deleted soon") {
    run(ReadScenario(
      211001987L,
      ReadSetup(
        4,
        executors = 3,
        model = ModelSettings(200, 1000, 2, 50, 1000, 5000L, false),
        options = Map(
          "fetchBufferSize" -> "1048576",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "20s",
          "removalConfirmations" -> "1",
          "removedStreamRetention" -> "1h",
          "drainTimeout" -> "1m",
          "shardFetchInterval" -> "2s",
          "maxBytesPerTrigger" -> "1k",
          "minFetchPeriod" -> "3s",
          "shardsPerTask" -> "1"
        ),
        streams = 3,
        logical = Vector(Active, Active, Active)
      ),
      Vector(
        Start(ProcessingTime(5000L), false, false),
        Split(7),
        Advance(13149L),
        Name(1, Draining),
        Advance(97L),
        Advance(16551L),
        Advance(16543L),
        Put(26),
        Skew(1200000L),
        Advance(4481L),
        Advance(1450L),
        Kill(58),
        Put(5),
        Advance(13000L),
        Recreate(1, 26084L),
        Advance(21000L),
        Advance(17000L),
        FailMetadata(Slow(7), 27242L),
        Advance(3374L),
        Advance(6000L),
        Advance(2000L),
        Start(Once, false, true),
        Advance(295L),
        Name(1, Active),
        Advance(16000L),
        Put(1),
        Advance(13000L),
        Recreate(2, 98149L)
      )
    ))
  }

  test("240040926: the answers of a recreated stream move the time of one that drains past unread records") {
    run(ReadScenario(
      240040926L,
      ReadSetup(
        1,
        executors = 3,
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "park",
          "drainGrace" -> "10m",
          "metadataRefreshInterval" -> "20m",
          "removalConfirmations" -> "1",
          "shardFetchInterval" -> "20m",
          "minFetchPeriod" -> "4m",
          "drainTimeout" -> "1h",
          "deaggregation.hashRangeFilter" -> "true",
          "minRecordsPerTrigger" -> "50",
          "maxTriggerDelay" -> "30s"
        ),
        streams = 3,
        logical = Vector(Active, Absent, Absent)
      ),
      Vector(
        Start(Once, false, false),
        Advance(1440000L),
        PutAggregate(1, 0),
        Name(1, Draining),
        Put(1),
        Advance(43200000L),
        Put(18),
        Advance(43200000L),
        Advance(3600000L),
        Start(ProcessingTime(3600000L), false, false),
        Advance(262000L),
        LoseMessages(10, 53801L),
        Advance(1020000L),
        Advance(674000L),
        Advance(1150000L),
        Fault(Unreachable("*"), 3233372L),
        Advance(23000L),
        Recreate(2, 161443L),
        Advance(780000L)
      )
    ))
  }

  test("240044961: a stream that drains is recreated before it is read, and the new one counts as read to its end") {
    run(ReadScenario(
      240044961L,
      ReadSetup(
        1,
        initialPosition = "latest",
        executors = 2,
        model = ModelSettings(200, 2, 100, 50, 1000, 5000L, false),
        options = Map(
          "removedStreamRetention" -> "1h",
          "fetchBufferSize" -> "1048576",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "20s",
          "removalConfirmations" -> "1",
          "shardFetchInterval" -> "10s",
          "minFetchPeriod" -> "250ms",
          "drainTimeout" -> "1h",
          "maxRecordsPerTrigger" -> "1"
        ),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Start(ProcessingTime(5000L), true, true),
        Advance(1000L),
        Stop,
        Fault(ListingHoles(4), 46879L),
        Put(14),
        Advance(5000L),
        Name(0, Absent),
        Advance(1000L),
        Advance(3000L),
        Start(ProcessingTime(10000L), true, false),
        Advance(4000L),
        Recreate(3, 65673L)
      )
    ))
  }
}
