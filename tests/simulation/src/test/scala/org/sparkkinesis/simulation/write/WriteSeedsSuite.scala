package org.sparkkinesis.simulation.write

import scala.concurrent.duration._

import org.sparkkinesis.simulation.common.{SeedRuns, SimulationOptions}
import org.sparkkinesis.simulation.write.schedule.WriteScenarios
import org.sparkkinesis.suite.TimedSuite

/**
 * Always runs the same seeds. A seed that fails prints its shortened schedule, which belongs into
 * [[WriteFindingsSuite]].
 */
class WriteSeedsSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 30.minutes

  private val steps = SimulationOptions().steps

  test("the schedules of 1,000 seeds lose nothing, keep the order of keys, and end") {
    val totals = SeedRuns.run(WriteSide, 1 to 1000, steps, SimulationOptions().threads)()
    totals.wrong.headOption.foreach { first =>
      val shortened = WriteSide.shrink(first)
      fail(s"${totals.wrong.size} seeds failed: ${totals.wrong.map(_.scenario.seed).sorted.mkString(", ")}\n" +
        s"${shortened.violation.getMessage}\n${shortened.asTest}")
    }
    // Seeds that store little, or in which nothing fails, would prove nothing.
    assert(totals("rows") > 100000 && totals("stored") > totals("rows"))
    assert(totals("duplicates") > 1000 && totals("taskFailures") > 1000)
  }

  test("the same seed does the same twice") {
    (1L to 20L).foreach { seed =>
      val scenario = WriteScenarios(seed, steps)
      val traces = Seq.fill(2) {
        val lines = Vector.newBuilder[String]
        WriteSide.run(scenario, lines += _)
        lines.result()
      }
      assert(traces.head == traces.last, s"seed $seed")
    }
  }
}
