package org.sparkkinesis.simulation.seeds

import scala.concurrent.duration._

import org.sparkkinesis.simulation.common.{Scenario, SeedRuns, SeedTotals, Side, SimulationOptions}
import org.sparkkinesis.suite.TimedSuite

/**
 * Runs the same seeds of one side each time, on all cores. A failed seed prints its shortened schedule, which belongs
 * in a suite of findings.
 */
abstract class SeedsSuite[S <: Scenario[A], A](side: Side[S, A, _], protected val seeds: Range.Inclusive)
    extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 30.minutes
  private val steps = SimulationOptions().steps

  /** Adds a test that no seed fails, and checks the figures of all seeds. */
  protected def testSeeds(name: String)(check: SeedTotals[S] => Any): Unit =
    test(s"the schedules of ${seeds.size} seeds $name") {
      val totals = SeedRuns.run(side, seeds, steps, SimulationOptions().threads)()
      totals.wrong.headOption.foreach { first =>
        val shortened = side.shrink(first)
        fail(s"${totals.wrong.size} seeds failed: ${totals.wrong.map(_.scenario.seed).sorted.mkString(", ")}\n" +
          s"${shortened.violation.getMessage}\n${shortened.asTest}")
      }
      check(totals)
    }

  /** Adds a test that a seed repeats its run exactly. */
  protected def testRepeats(repeated: Int): Unit = test("the same seed gives the same run twice") {
    (1L to repeated.toLong).foreach { seed =>
      val traces = Seq.fill(2) {
        val lines = Vector.newBuilder[String]
        side.run(side.scenario(seed, steps), lines += _)
        lines.result()
      }
      assert(traces.head == traces.last, s"seed $seed")
    }
  }
}
