package org.sparkkinesis.simulation.read

import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Fixed failures in which the query called the service more often than its quotas allow. */
class QuotaFindingsSuite extends TimedSuite with ReadFindings {
  test("seed 300084104: a real-time task whose end does not reach the driver runs as often as Spark allows") {
    val outcome = run(ReadScenario(
      300084104L,
      ReadSetup(
        shards = 2,
        model = ModelSettings(20, 1000, 100, 0, 1000, 5000L, false),
        tasks = TaskSettings(4, 0, 0, 50, 30),
        options = Map("minFetchPeriod" -> "250ms", "shardFetchInterval" -> "10s")
      ),
      Vector(
        Start(RealTime(5000L), efo = false, failOnDataLoss = true),
        Split(2),
        Split(5),
        Advance(15000L),
        Recreate(1, 16419L),
        LoseMessages(100, 52600L),
        Advance(15000L),
        Advance(5000L)
      )
    ))
    assert(outcome.failures.exists(_.contains("KINESIS_REAL_TIME_DRIVER_UNREACHABLE")))
  }
}
