package org.sparkkinesis.simulation.read

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.simulation.common.Arguments

/** Always the same seeds, on all cores. One that fails shows its shortened schedule, to be kept in [[ReadFindingsSuite]]. */
class ReadSeedsSuite extends AnyFunSuite {
  private val seeds = 1 to 2000

  test(s"the schedules of ${seeds.size} seeds lose nothing, repeat nothing, and end") {
    val totals = SeedRuns.run(seeds, Arguments().steps, Runtime.getRuntime.availableProcessors)(identity)(_ => ())
    totals.wrong.headOption.foreach { first =>
      val shortened = ReadRuns.shrink(first.scenario, first.violation)
      fail(s"${totals.wrong.size} seeds failed: ${totals.wrong.map(_.scenario.seed).mkString(", ")}\n" +
        s"${shortened.violation.getMessage}\n${shortened.asTest}")
    }
    // Seeds that put or lose nothing would prove nothing.
    assert(totals.delivered > 50L * seeds.size)
    assert(totals.runsWithoutLoss > 0 && totals.runsWithoutLoss < seeds.size)
    assert(totals.calls("SubscribeToShard") > seeds.size)
    assert(totals.faults.keySet == Set(
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

  test("the same seed does the same twice") {
    (1L to 20L).foreach { seed =>
      val scenario = ReadScenarios(seed, Arguments().steps)
      val traces = Seq.fill(2) {
        val lines = Vector.newBuilder[String]
        ReadRuns.run(scenario, lines += _)
        lines.result()
      }
      assert(traces.head == traces.last, s"seed $seed")
    }
  }
}
