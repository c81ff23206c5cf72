package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.simulation.metadata.MetadataFault.UnknownState
import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Draining, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.Unreachable
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule.{ReadScenario, ReadSetup}
import org.sparkkinesis.simulation.spark.QueryTrigger.{AvailableNow, Once, ProcessingTime}
import org.sparkkinesis.suite.TimedSuite

/** Schedules with streams of a logical stream that were parked, or did not exist, and are read again. */
class ReturningFindingsSuite extends TimedSuite with ReadFindings {
  private val returning = verySlow ++ Map(
    "metadataRefreshInterval" -> "5m",
    "drainTimeout" -> "1h",
    "drainGrace" -> "0ms",
    "removalConfirmations" -> "1"
  )

  test("what expires after a drained stream should be read again is reported, if no run can read it before") {
    val outcome = run(ReadScenario(
      51200979,
      ReadSetup(options = returning + ("alignShards" -> "6h"), streams = 2, logical = Vector(Active, Standby)),
      Vector(
        Migrate(0, 1),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(13 * Hour),
        PutTo(0, 1),
        Advance(12 * Hour),
        Name(0, Active),
        // Ends with the loss of the other stream, after it has written that this one is to be read.
        Start(ProcessingTime(60000), efo = true, failOnDataLoss = true),
        Advance(13 * Hour)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("what a drained stream got after it should be read again is reported, if it is being deleted at the restart") {
    val outcome = run(ReadScenario(
      63001271,
      ReadSetup(
        initialPosition = "latest",
        positionAgeMillis = 60000,
        model = ModelSettings(20, 10, 2, 0, 1000, 5000, false),
        options = Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "drainGrace" -> "0ms",
          "metadataRefreshInterval" -> "1s",
          "removalConfirmations" -> "3",
          "shardFetchInterval" -> "10s",
          "maxBytesPerTrigger" -> "1k",
          "minFetchPeriod" -> "250ms",
          "drainTimeout" -> "1h",
          "shardsPerTask" -> "2"
        ),
        streams = 3,
        logical = Vector(Active, Standby, Standby)
      ),
      Vector(
        Put(18),
        Start(AvailableNow, efo = false, failOnDataLoss = false),
        Name(0, Draining),
        Split(0),
        Name(2, Active),
        LoseExecutor(2),
        Advance(5000),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(3000),
        Name(0, Active),
        LoseMessages(50, 41872),
        // Writes that the stream is to be read, and ends before it has planned a batch.
        Start(ProcessingTime(5000), efo = true, failOnDataLoss = true),
        Advance(7000),
        Stop,
        Put(15),
        Put(39),
        Advance(8000),
        Recreate(2, 169647),
        Recreate(3, 136923),
        Advance(13000),
        // The stream is in the state DELETING.
        Start(Once, efo = false, failOnDataLoss = true),
        Advance(15000)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("what a drained stream got after it should be read again, and before it was recreated, is reported") {
    val outcome = run(ReadScenario(
      51200317,
      ReadSetup(
        options = returning ++ Map(
          "metadataRefreshInterval" -> "20m",
          "onStreamRemoved" -> "park",
          "drainGrace" -> "10s",
          "maxRecordsPerTrigger" -> "1"
        ),
        streams = 2,
        executors = 3,
        logical = Vector(Active, Active)
      ),
      Vector(
        Start(ProcessingTime(60000), efo = false, failOnDataLoss = true),
        Advance(31 * Minute),
        Name(1, Standby),
        PutTo(0, 16),
        Advance(Hour),
        Kill(9),
        Advance(14 * Hour),
        Name(1, Active),
        Advance(14 * Hour),
        Start(ProcessingTime(60000), efo = false, failOnDataLoss = true),
        Advance(14 * Minute),
        PutTo(1, 12),
        Recreate(3, 23172)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("a stream that is recreated twice before the query finds it is read from its oldest record") {
    run(ReadScenario(
      51201451,
      ReadSetup(options = fast + ("metadataRefreshInterval" -> "5s"), streams = 2, logical = Vector(Active, Active)),
      Vector(
        Put(18),
        Start(ProcessingTime(5000), efo = true, failOnDataLoss = false),
        Advance(9000),
        Put(3),
        Recreate(3, 11120),
        Advance(7000),
        FailMetadata(UnknownState, 38622),
        Advance(20000),
        Put(4),
        Recreate(2, 21896)
      )
    ))
  }

  test("a stream that was parked before it was read may have lost what it got since") {
    run(ReadScenario(
      60006191,
      ReadSetup(options = verySlow, streams = 2, logical = Vector(Active, Standby)),
      Vector(
        Advance(26 * Hour),
        Name(0, Draining),
        Start(Once, efo = true, failOnDataLoss = false),
        Advance(1000),
        Stop,
        Advance(12 * Hour),
        Start(ProcessingTime(60000), efo = true, failOnDataLoss = false),
        Advance(2 * Hour)
      )
    ))
  }

  test("a full report after a day without records, which repeats the end of a shard, is no report of loss") {
    run(ReadScenario(
      60009739,
      ReadSetup(shards = 3, options = verySlow, streams = 3, logical = Vector(Active, Standby, Standby)),
      Vector(
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(7 * Minute),
        Merge(6),
        Advance(29 * Hour),
        LoseMessages(100, 51749),
        Advance(2 * Hour)
      )
    ))
  }

  test("AvailableNow reads what was there when it started, although no stream was open then and the clock is behind") {
    run(ReadScenario(
      61018306,
      ReadSetup(options = verySlow, streams = 2, logical = Vector(Active, Absent)),
      Vector(
        Name(0, Absent),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(11 * Minute),
        Name(1, Draining),
        Start(ProcessingTime(60000), efo = false, failOnDataLoss = true),
        Name(0, Draining),
        Skew(-1000),
        Advance(18 * Minute),
        Put(1)
      )
    ))
  }

  test("a stream that was recreated has its new enhanced fan-out consumer before its shards are assigned") {
    run(ReadScenario(
      61009951,
      ReadSetup(
        options = verySlow ++ Map(
          "metadataRefreshInterval" -> "5m",
          "onStreamRemoved" -> "park",
          "drainGrace" -> "10m",
          "drainTimeout" -> "1m",
          "maxRecordsPerTrigger" -> "5"
        ),
        streams = 3,
        logical = Vector(Active, Absent, Active)
      ),
      Vector(
        Put(1),
        Name(2, Draining),
        Split(1),
        Advance(Minute),
        Put(1),
        Advance(13 * Hour),
        Start(AvailableNow, efo = true, failOnDataLoss = true),
        Advance(10 * Minute),
        Name(1, Active),
        Put(9),
        Advance(8 * Hour),
        Put(17),
        Advance(6 * Hour),
        Start(ProcessingTime(Hour), efo = true, failOnDataLoss = false),
        Advance(139000),
        Recreate(1, 238234),
        Advance(27 * Hour)
      )
    ))
  }

  test("93006271: a stream that followed a drained one, was found, and was deleted before it was read is reported") {
    val outcome = run(ReadScenario(
      93006271L,
      ReadSetup(
        shards = 3,
        model = ModelSettings(20, 2, 1, 0, 1000, 5000L, false),
        options = Map(
          "drainGrace" -> "10s",
          "metadataRefreshInterval" -> "5s",
          "removalConfirmations" -> "2",
          "shardFetchInterval" -> "2s",
          "minFetchPeriod" -> "1s",
          "maxRecordsPerTrigger" -> "5"
        ),
        streams = 2,
        logical = Vector(Active, Active)
      ),
      Vector(
        Start(ProcessingTime(1000L), efo = false, failOnDataLoss = true),
        Advance(1000L),
        LoseMessages(100, 12730L),
        Advance(11662L),
        Advance(743L),
        Recreate(3, 19891L),
        Advance(17000L),
        Fault(Unreachable("executor"), 29892L),
        Advance(9675L),
        Put(3),
        Recreate(2, 142805L),
        Advance(20000L)
      )
    ))
    assert(outcome.losses > 0)
  }
}
