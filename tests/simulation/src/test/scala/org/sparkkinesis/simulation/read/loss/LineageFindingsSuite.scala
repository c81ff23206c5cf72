package org.sparkkinesis.simulation.read.loss

import org.sparkkinesis.simulation.metadata.NamedState.{Absent, Active, Standby}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{EndWithoutChildren, ListingHoles, StaleListing}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Schedules after which the checkpoint's shards are not linked to the listed ones, or are of a deleted stream. */
class LineageFindingsSuite extends TimedSuite with ReadFindings {

  test("35003969: the children of a shard that an earlier run finished are waited for") {
    run(ReadScenario(
      35003969L,
      ReadSetup(shards = 2, executors = 2, options = Map("shardFetchInterval" -> "10s", "minFetchPeriod" -> "3s")),
      Vector(
        Fault(StaleListing(9), 57658L),
        Start(RealTime(5000L), efo = false, failOnDataLoss = true),
        Advance(3000L),
        Merge(0),
        Advance(1000L),
        Put(1),
        Kill(3),
        Advance(381L),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(5000L)
      )
    ))
  }
  test("9122487: the child of finished shards expires unread, and is merged with another shard of the checkpoint") {
    val outcome = run(ReadScenario(
      9122487L,
      ReadSetup(initialPosition = "latest", positionAgeMillis = 1000L, options = verySlow),
      Vector(
        Split(5),
        Split(6),
        Split(5),
        Split(7),
        Merge(5),
        Merge(6),
        Put(9),
        Merge(0),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(Hour),
        PutAggregate(3, 1),
        Kill(2),
        Merge(7),
        Advance(10 * Hour),
        Advance(15 * Hour)
      )
    ))
    assert(outcome.delivered == 9 && outcome.losses > 0)
  }

  test("9117000: the same after a driver was killed in real-time mode") {
    run(ReadScenario(
      9117000L,
      ReadSetup(
        shards = 4,
        initialPosition = "latest",
        positionAgeMillis = Hour,
        executors = 2,
        model = ModelSettings(200, 10, 1, 0, 1000, 15000L),
        tasks = TaskSettings(4, 10),
        options = verySlow
      ),
      Vector(
        Start(RealTime(Hour), efo = false, failOnDataLoss = false),
        Merge(7),
        Advance(6 * Minute),
        Kill(5),
        Put(1),
        Merge(0),
        Advance(12 * Hour),
        Advance(41280000L),
        Advance(Hour)
      )
    ))
  }

  test("9210799, 9118905: nothing that is known of the shards of a deleted stream is true of the new stream") {
    val outcome = run(ReadScenario(
      9210800L,
      ReadSetup(
        shards = 3,
        initialPosition = "at_timestamp",
        positionAgeMillis = 23 * Hour,
        model = ModelSettings(5, 1000, 100, 0, 1000, 5000L, lateEnds = true),
        options = Map("minFetchPeriod" -> "250ms", "shardFetchInterval" -> "2s"),
        streams = 3
      ),
      Vector(
        Merge(5),
        Fault(EndWithoutChildren, 18137L),
        Advance(9000L),
        Advance(5000L),
        Start(ProcessingTime(10000L), efo = true, failOnDataLoss = false),
        Advance(16000L),
        Merge(1),
        PutTo(2, 3),
        Advance(66L),
        Recreate(1, 67999L)
      )
    ))
    assert(outcome.delivered == 3)
  }

  test("9203854: a task does not read a shard of a new stream instead of the empty one of a deleted stream") {
    run(ReadScenario(
      9203854L,
      ReadSetup(tasks = TaskSettings(4, 0, 20, 50, 30), options = verySlow),
      Vector(
        Recreate(3, 264778L),
        Advance(Hour),
        Merge(5),
        Put(1),
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(15000L),
        Recreate(3, 12771L),
        Advance(3377000L),
        Put(1),
        Merge(0)
      )
    ))
  }

  test("33021: a query whose first run was killed begins with the parent of a split that the first listing lacks") {
    run(ReadScenario(
      33021L,
      ReadSetup(
        shards = 4,
        initialPosition = "latest",
        positionAgeMillis = Minute,
        executors = 3,
        model = ModelSettings(200, 1000, 2, 0, 1000, 5000L),
        options = Map("minFetchPeriod" -> "250ms", "shardFetchInterval" -> "10s")
      ),
      Vector(
        Put(3),
        Start(AvailableNow, efo = true, failOnDataLoss = false),
        Advance(147L),
        Kill(0),
        Put(1),
        Split(2),
        Fault(ListingHoles(2), 47626L),
        Put(3),
        Fault(ListingHoles(4), 2497L),
        Start(AvailableNow, efo = true, failOnDataLoss = false),
        LoseExecutor(2),
        Advance(14000L)
      )
    ))
  }

  test("30038361: a listing with other hash key ranges shows that the stream was recreated") {
    run(ReadScenario(
      30038361L,
      ReadSetup(
        executors = 3,
        model = ModelSettings(200, 1000, 1, 0, 1000, 15000L, lateEnds = true),
        options = Map("shardFetchInterval" -> "20m", "minFetchPeriod" -> "4m")
      ),
      Vector(
        Start(ProcessingTime(60000L), efo = false, failOnDataLoss = true),
        Advance(2895000L),
        Split(1),
        Advance(570000L),
        Recreate(3, 161826L),
        Advance(259000L),
        PutAggregate(2, 2),
        Merge(2),
        Put(1)
      )
    ))
  }

  test("30067658: an executor that does not hear of a recreated stream does not deliver records of the old one") {
    run(ReadScenario(
      30067658L,
      ReadSetup(options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")),
      Vector(
        Put(1),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(60000L),
        Split(3),
        Advance(448000L),
        Recreate(3, 218554L),
        Advance(3060000L),
        LoseMessages(100, 59154L),
        Advance(1260000L),
        PutAggregate(4, 2)
      )
    ))
  }

  test("120018599: a stream joins after its shards were merged, and nothing shows when their child begins") {
    run(ReadScenario(
      120018599L,
      ReadSetup(
        shards = 2,
        model = ModelSettings(5, 10, 100, 0, 1000, 15000L, false),
        options = verySlow ++ Map(
          "removedStreamRetention" -> "365d",
          "onStreamRemoved" -> "drain",
          "fetchBufferSize" -> "1048576",
          "drainGrace" -> "10s",
          "metadataRefreshInterval" -> "5m",
          "removalConfirmations" -> "3",
          "drainTimeout" -> "1h",
          "deaggregation.hashRangeFilter" -> "true",
          "maxRecordsPerTrigger" -> "5",
          "shardsPerTask" -> "1"
        ),
        streams = 3,
        logical = Vector(Active, Standby, Absent)
      ),
      Vector(
        Put(1),
        Advance(39600000L),
        Start(ProcessingTime(3600000L), efo = true, failOnDataLoss = true),
        Advance(3600000L),
        Merge(7),
        Migrate(0, 1),
        Advance(6720000L),
        Name(2, Absent),
        Kill(6),
        Advance(43200000L)
      )
    ))
  }
}
