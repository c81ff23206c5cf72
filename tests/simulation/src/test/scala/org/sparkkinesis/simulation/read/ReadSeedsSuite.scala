package org.sparkkinesis.simulation.read

import scala.concurrent.duration._

import org.sparkkinesis.simulation.common.{SeedRuns, SimulationOptions}
import org.sparkkinesis.simulation.read.schedule.ReadScenarios
import org.sparkkinesis.suite.TimedSuite

/**
 * Runs the same seeds each time, on all cores. A failed seed prints its shortened schedule, which belongs in
 * [[ReadFindingsSuite]].
 */
class ReadSeedsSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 30.minutes

  private val seeds = 1 to 2000

  test(s"the schedules of ${seeds.size} seeds lose no record, repeat no record, and end") {
    val totals = SeedRuns.run(ReadSide, seeds, SimulationOptions().steps, SimulationOptions().threads)()
    totals.wrong.headOption.foreach { first =>
      val shortened = ReadSide.shrink(first)
      fail(s"${totals.wrong.size} seeds failed: ${totals.wrong.map(_.scenario.seed).mkString(", ")}\n" +
        s"${shortened.violation.getMessage}\n${shortened.asTest}")
    }
    // Check that the seeds put and lose records at all.
    assert(totals("delivered") > 50L * seeds.size)
    assert(totals("runsWithoutLoss") > 0 && totals("runsWithoutLoss") < seeds.size)
    assert(totals("calls.SubscribeToShard") > seeds.size)
    assert(totals("realTimeBatches") > seeds.size)
    assert(totals.group("faults").keySet == Set(
      "EmptyAnswers",
      "EndWithoutChildren",
      "Failing",
      "Kill",
      "KillExecutor",
      "ListingHoles",
      "LoseExecutor",
      "LoseMessages",
      "Recreate",
      "SilentSubscriptions",
      "Skew",
      "SkewExecutors",
      "StaleListing",
      "Unreachable"
    ))
  }

  test("the same seed gives the same run twice") {
    (1L to 20L).foreach { seed =>
      val scenario = ReadScenarios(seed, SimulationOptions().steps)
      val traces = Seq.fill(2) {
        val lines = Vector.newBuilder[String]
        ReadSide.run(scenario, lines += _)
        lines.result()
      }
      assert(traces.head == traces.last, s"seed $seed")
    }
  }
}
