package org.sparkkinesis.simulation.write

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.simulation.common.Arguments

/**
 * Always runs the same seeds. A seed that fails prints its shortened schedule, which belongs into
 * [[WriteFindingsSuite]].
 */
class WriteSeedsSuite extends AnyFunSuite {
  private val steps = Arguments().steps

  test("the schedules of 1,000 seeds lose nothing, keep the order of keys, and end") {
    val totals = WriteSeeds.run(1 to 1000, steps, Arguments().threads)(identity)
    totals.wrong.headOption.foreach { first =>
      val scenario = WriteRuns.shrink(first.scenario, first.violation)
      fail(s"${totals.wrong.size} seeds failed: ${totals.wrong.map(_.scenario.seed).sorted.mkString(", ")}\n" +
        s"${first.violation.getMessage}\n${WriteRuns.asTest(scenario, first.violation)}")
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
        WriteRuns.run(scenario, lines += _)
        lines.result()
      }
      assert(traces.head == traces.last, s"seed $seed")
    }
  }
}
