package org.sparkkinesis.simulation.read.loss

import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{ListingHoles, Unreachable}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Schedules in which a running query gives shards up whose children it does not know. */
class GivenUpFindingsSuite extends TimedSuite with ReadFindings {
  private val modes = Seq(ProcessingTime(Minute), RealTime(10 * Minute))
  private def testIn(name: String)(body: Start => Any): Unit = modes.foreach { trigger =>
    test(s"P3: $name (${trigger.productPrefix})")(body(Start(trigger, efo = false, failOnDataLoss = false)))
  }

  testIn("a running query reads a stream that was recreated with fewer shards") { goesOn =>
    val outcome = run(ReadScenario(
      71,
      ReadSetup(options = slow),
      Vector(
        Put(3),
        goesOn,
        Advance(10 * Minute),
        Split(0),
        Advance(10 * Minute),
        Put(4),
        Advance(5 * Minute),
        Recreate(1, 2000),
        Advance(10 * Minute),
        Put(5),
        Advance(6 * Hour)
      )
    ))
    assert(outcome.delivered == 12 && outcome.slowestMillis < Hour && outcome.losses > 0)
  }

  testIn("7004103: a running query reads a stream that was recreated with shards that had children before") { goesOn =>
    val outcome = run(ReadScenario(
      7004103,
      ReadSetup(shards = 3, options = slow),
      Vector(
        Put(3),
        goesOn,
        Advance(10 * Minute),
        Split(2),
        Advance(10 * Minute),
        Put(4),
        Advance(5 * Minute),
        Recreate(3, 2000),
        Advance(10 * Minute),
        Put(5),
        Advance(6 * Hour)
      )
    ))
    // A real-time batch fails when its stream is gone. It is not committed, and its records went with the stream.
    val isLive = goesOn.trigger.isInstanceOf[RealTime]
    assert(outcome.delivered == (if (isLive) 8 else 12) && outcome.losses > 0)
    assert(outcome.failures.isEmpty || isLive)
  }

  test("a running query reads a recreated stream whose shards are split before the query looks at them") {
    val outcome = run(ReadScenario(
      73,
      ReadSetup(options = slow),
      Vector(
        Put(3),
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Advance(10 * Minute),
        Split(0),
        Advance(10 * Minute),
        Put(4),
        Advance(5 * Minute),
        Recreate(1, 2000),
        Advance(3000),
        Put(2),
        Split(0),
        Put(2),
        Advance(6 * Hour)
      )
    ))
    assert(outcome.delivered == 11 && outcome.losses > 0 && outcome.failures.isEmpty)
  }

  testIn("a running query reads the descendants of a shard of which two generations expired in an outage") { goesOn =>
    val outcome = run(ReadScenario(
      72,
      ReadSetup(options = slow),
      Vector(
        Put(3),
        goesOn,
        Advance(11 * Minute),
        Fault(Unreachable("*"), 60 * Hour),
        Advance(Minute),
        Split(0),
        Put(2),
        Advance(Hour),
        Split(0),
        Split(0),
        Split(0),
        Advance(59 * Hour),
        Put(5),
        Advance(6 * Hour)
      )
    ))
    assert(outcome.delivered == 8 && outcome.slowestMillis < 2 * Hour && outcome.losses > 0)
  }

  test("9002199: records that expire before what is left of a lost lineage is fetched are reported") {
    run(ReadScenario(
      9002199L,
      ReadSetup(
        model = ModelSettings(200, 1000, 100, 0, 1000, 15000L, lateEnds = true),
        options = Map("shardFetchInterval" -> "20m", "minFetchPeriod" -> "4m")
      ),
      Vector(
        Put(5),
        Start(ProcessingTime(3600000L), false, true),
        Advance(480000L),
        Kill(6),
        Split(0),
        Merge(4),
        Advance(18000000L),
        Put(3),
        Advance(43200000L),
        Advance(41100000L),
        Start(ProcessingTime(3600000L), false, false),
        Advance(13000L),
        Stop,
        Fault(Unreachable("executor"), 3158513L),
        Start(AvailableNow, false, false),
        Advance(1140000L),
        Advance(1380000L)
      )
    ))
  }

  test("9017500: a recreated stream is read from the parents of its shards on, if a listing lacks a parent") {
    run(ReadScenario(
      9017500L,
      ReadSetup(
        shards = 2,
        executors = 2,
        model = ModelSettings(5, 2, 1, 0, 1000, 5000L, lateEnds = true),
        tasks = TaskSettings(4, 10, 0, 50, 0),
        options = Map("shardFetchInterval" -> "2s", "minFetchPeriod" -> "3s")
      ),
      Vector(
        Put(2),
        Start(AvailableNow, false, false),
        Advance(4000L),
        Put(10),
        Recreate(3, 7283L),
        Advance(15000L),
        Put(4),
        Skew(-1200000L),
        Put(10),
        PutTo(2, 8),
        PutAggregate(4, 1),
        Split(0),
        Fault(ListingHoles(4), 7975L),
        PutAggregate(4, 0),
        Start(AvailableNow, false, false),
        Advance(3000L)
      )
    ))
  }
}
