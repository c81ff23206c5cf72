package org.sparkkinesis.simulation.read

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.service.{Operation, ServiceErrorKind}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{EndWithoutChildren, Failing, StaleListing, Unreachable}
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings

/** Fixed failures of real-time mode, and schedules in which it and micro-batches share a checkpoint. */
class RealTimeFindingsSuite extends AnyFunSuite with ReadFindings {
  private def live(millis: Long) = Start(RealTime(millis), efo = false, failOnDataLoss = true)

  test("346: records that expire after a first real-time batch, which was not committed, are reported as lost") {
    val outcome = run(ReadScenario(
      346,
      ReadSetup(initialPosition = "at_timestamp", positionAgeMillis = 30 * Hour, options = slow),
      Vector(Put(1), Advance(19 * Hour), live(Hour), Advance(4 * Minute), Stop, Advance(14 * Hour))
    ))
    assert(outcome.losses > 0 && outcome.delivered == 0)
  }

  test("A6: records that expire while the executors of a running query cannot read are reported as lost") {
    val outcome = run(ReadScenario(
      63,
      ReadSetup(shards = 1, options = slow),
      Vector(
        Put(2),
        Start(RealTime(10 * Minute), efo = false, failOnDataLoss = false),
        Advance(5 * Minute),
        Fault(Failing(Some(Operation.GetRecords), ServiceErrorKind.Network, 100), 26 * Hour),
        Put(5),
        Advance(25 * Hour),
        Put(3),
        Advance(3 * Hour)
      )
    ))
    assert(outcome.losses > 0 && outcome.delivered == 5)
  }

  test("1000188: an empty shard is not reported as lost because the first real-time batch was not committed") {
    run(ReadScenario(
      1000188,
      ReadSetup(options = Map("shardFetchInterval" -> "20m", "minFetchPeriod" -> "4m")),
      Vector(
        Advance(28 * Hour),
        Start(RealTime(Hour), efo = false, failOnDataLoss = false),
        Advance(6 * Minute)
      )
    ))
  }

  test("1000188: records that expire after the first real-time batch, which was not committed, are reported") {
    Seq(Stop, Kill(1)).foreach { end =>
      val outcome = run(ReadScenario(
        1000188,
        ReadSetup(shards = 2, options = slow),
        Vector(
          Advance(10 * Hour),
          Put(1),
          Advance(18 * Hour),
          live(Hour),
          Advance(10 * Minute),
          end,
          Advance(10 * Hour)
        )
      ))
      assert(outcome.losses > 0 && outcome.delivered == 0, end)
    }
  }

  test("3000024: a batch that is committed while the driver is cut off does not hide that records before it expired") {
    val outcome = run(ReadScenario(
      3000024,
      ReadSetup(shards = 1, options = Map("shardFetchInterval" -> "20m", "minFetchPeriod" -> "4m")),
      Vector(
        Put(1),
        Advance(11 * Hour),
        live(Hour),
        Advance(11 * Minute),
        Kill(1),
        Advance(14 * Hour),
        live(Hour),
        Advance(28 * Minute),
        Fault(Unreachable("*"), 52 * Minute),
        Advance(Hour),
        Kill(1)
      )
    ))
    assert(outcome.losses > 0 && outcome.delivered == 0)
  }

  test("real-time batches and micro-batches continue each other's offsets, through splits, merges and kills") {
    val steps = Seq(Split(0), Merge(1), Split(2), Split(1), Merge(0), Kill(30))
    val actions = steps.flatMap { step =>
      Seq(
        live(10000),
        PutAggregate(5, 0),
        Put(20),
        Advance(15000),
        step,
        Put(20),
        Advance(25000),
        Stop,
        Put(20),
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(30000)
      )
    }
    val outcome = run(ReadScenario(1, ReadSetup(shards = 2, executors = 2, options = fast), actions.toVector))
    assert(outcome.liveBatches >= steps.size && outcome.delivered == outcome.records)
  }

  test("6001306: children of a shard that was empty and ended before its first answer are not reported as lost") {
    run(ReadScenario(
      6001306,
      ReadSetup(
        shards = 4,
        initialPosition = "at_timestamp",
        positionAgeMillis = 23 * Hour,
        executors = 3,
        options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")
      ),
      Vector(live(Hour), Merge(3), Advance(Hour), Stop, Advance(12 * Hour))
    ))
  }

  test("8008915: records that an executor read and lost, and that expire before another one reads them, are reported") {
    val outcome = run(ReadScenario(
      8008915,
      ReadSetup(options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")),
      Vector(
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Stop,
        Advance(9 * Hour),
        Put(1),
        Advance(24 * Hour - 2 * Minute),
        Start(RealTime(Hour), efo = false, failOnDataLoss = false),
        Advance(14 * Minute),
        LoseExecutor(2)
      )
    ))
    assert(outcome.losses > 0)
  }

  test("9010698: an executor with another clock has the time of the service, although the driver's message is lost") {
    run(ReadScenario(
      9010698L,
      ReadSetup(options = Map("minFetchPeriod" -> "250ms", "shardFetchInterval" -> "10s"), streams = 2),
      Vector(
        SkewExecutors(1200000L),
        live(5000L),
        Kill(25),
        Put(1),
        Advance(16000L),
        LoseMessages(100, 47692L),
        live(5000L),
        Advance(2000L)
      )
    ))
  }

  test("9008516: an executor that was lost before the first batch ended leaves the initial position") {
    run(ReadScenario(
      9008516L,
      ReadSetup(1, 24, "at_timestamp", 23 * Hour, options = verySlow),
      Vector(Put(1), live(Hour), Advance(Hour), KillExecutor(2, 0), Advance(Hour), KillExecutor(2, 8))
    ))
  }

  test("9205541: a task that fails before the first batch ended leaves the initial position") {
    run(ReadScenario(
      9205541L,
      ReadSetup(
        shards = 2,
        initialPosition = "at_timestamp",
        positionAgeMillis = 23 * Hour,
        executors = 3,
        tasks = TaskSettings(4, 10, 0, 5, 0),
        options = verySlow,
        streams = 3
      ),
      Vector(Put(10), Start(RealTime(Hour), efo = false, failOnDataLoss = true), Advance(Hour), Put(1))
    ))
  }

  test("9002723: each shard of a task that moves may have one refused subscription") {
    run(ReadScenario(
      9002723L,
      ReadSetup(
        shards = 4,
        executors = 2,
        model = ModelSettings(5, 1000, 1, 0, 1000, 15000L),
        tasks = TaskSettings(4, 0, 0, 50, 0),
        options = verySlow
      ),
      Vector(Start(RealTime(60000L), efo = true, failOnDataLoss = false), Split(3), Advance(20 * Hour))
    ))
  }

  test(
    "33001033: a new consumer in the same executor begins where the batch began, so what expired meanwhile is reported"
  ) {
    run(ReadScenario(
      33001033L,
      ReadSetup(
        shards = 4,
        executors = 2,
        model = ModelSettings(20, 2, 2, 0, 1000, 15000L),
        tasks = TaskSettings(4, 10, 0, 0, 0),
        options = Map("shardFetchInterval" -> "20m", "minFetchPeriod" -> "4m")
      ),
      Vector(
        Put(14),
        Advance(75600000L),
        Start(ProcessingTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(41000L),
        Merge(0),
        Advance(197000L),
        Split(3),
        Advance(1249000L),
        Put(2),
        Advance(2071000L),
        Kill(0),
        Advance(3600000L),
        Put(1),
        Split(0),
        Advance(3600000L),
        PutAggregate(4, 1),
        Merge(5),
        Start(RealTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(3600000L)
      )
    ))
  }

  test("33018823: consumers do not continue in a recreated stream") {
    run(ReadScenario(
      33018823L,
      ReadSetup(options = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")),
      Vector(
        Split(6),
        Start(RealTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(2040000L),
        Recreate(1, 126380L),
        Advance(900000L),
        Put(1),
        Advance(720000L)
      )
    ))
  }

  test(
    "33066427: parents that were read are not what is left of a lost lineage, if listings are older than their merge"
  ) {
    run(ReadScenario(
      33066427L,
      ReadSetup(shards = 3, options = Map("shardFetchInterval" -> "2s", "minFetchPeriod" -> "250ms")),
      Vector(
        Fault(StaleListing(19), 40757L),
        Start(RealTime(5000L), efo = false, failOnDataLoss = true),
        Merge(1),
        Advance(1000L),
        Fault(EndWithoutChildren, 55055L),
        Merge(2),
        Advance(15000L)
      )
    ))
  }

  test("34017115: user records of a recreated stream that were filtered by the old hash key ranges are reported") {
    run(ReadScenario(
      34017115L,
      ReadSetup(
        shards = 4,
        initialPosition = "at_timestamp",
        positionAgeMillis = 1000L,
        model = ModelSettings(200, 2, 100, 0, 1000, 15000L),
        options = Map(
          "fetchBufferSize" -> "1048576",
          "shardFetchInterval" -> "20m",
          "minFetchPeriod" -> "4m",
          "deaggregation.hashRangeFilter" -> "true"
        )
      ),
      Vector(
        Start(RealTime(3600000L), efo = false, failOnDataLoss = false),
        Advance(799000L),
        Advance(2751000L),
        Recreate(1, 20574L),
        Advance(1948000L),
        PutAggregate(3, 2)
      )
    ))
  }

  test("160010370: two tasks of a batch find the same child, because the stream was recreated") {
    run(ReadScenario(
      160010370L,
      ReadSetup(
        shards = 4,
        executors = 2,
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        options = Map("minFetchPeriod" -> "3s", "shardFetchInterval" -> "10s")
      ),
      Vector(
        Start(RealTime(5000L), efo = false, failOnDataLoss = false),
        Split(0),
        Advance(1000L),
        Recreate(2, 2000L),
        Advance(2438L),
        Split(0),
        Split(0),
        LoseExecutor(0),
        Advance(1471L)
      )
    ))
  }
}
