package org.sparkkinesis.simulation.write

import scala.concurrent.duration._

import org.sparkkinesis.simulation.common.{SeedRuns, SimulationOptions}
import org.sparkkinesis.simulation.write.schedule.WriteScenarios
import org.sparkkinesis.suite.TimedSuite

/**
 * Always runs the same seeds of queries that write to a logical stream. A seed that fails prints its shortened
 * schedule, which belongs into [[RouteFindingsSuite]].
 */
class RouteSeedsSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 30.minutes

  private val seeds = 1 to 300
  private val steps = SimulationOptions().steps

  test(s"the schedules of ${seeds.size} seeds store every row in a stream of its micro-batch's routes, and end") {
    val totals = SeedRuns.run(RouteSide, seeds, steps, SimulationOptions().threads)()
    totals.wrong.headOption.foreach { first =>
      val shortened = RouteSide.shrink(first)
      fail(s"${totals.wrong.size} seeds failed: ${totals.wrong.map(_.scenario.seed).sorted.mkString(", ")}\n" +
        s"${shortened.violation.getMessage}\n${shortened.asTest}")
    }
    // Seeds in which the routes stay the same, and no stream fails, would prove nothing.
    assert(totals("rows") > 100L * seeds.size && totals("stored") > totals("rows"))
    assert(totals("routeSwitches") > seeds.size && totals("routeRepeats") > seeds.size)
    assert(totals("streamsLeft") > seeds.size / 2)
  }

  test("the same seed does the same twice") {
    (1L to 10L).foreach { seed =>
      val scenario = WriteScenarios.routed(seed, steps)
      val traces = Seq.fill(2) {
        val lines = Vector.newBuilder[String]
        RouteSide.run(scenario, lines += _)
        lines.result()
      }
      assert(traces.head == traces.last, s"seed $seed")
    }
  }
}
