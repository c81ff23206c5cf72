package org.sparkkinesis.simulation.read

import scala.concurrent.duration._

import org.sparkkinesis.simulation.common.{SeedRuns, SimulationOptions}
import org.sparkkinesis.simulation.read.schedule.ReadScenarios
import org.sparkkinesis.suite.TimedSuite

/**
 * Runs the same seeds of queries that read a logical stream each time, on all cores. A failed seed prints its shortened
 * schedule, which belongs in [[LogicalFindingsSuite]].
 */
class LogicalSeedsSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 30.minutes

  private val seeds = 1 to 200
  private val steps = SimulationOptions().steps

  test(s"the schedules of ${seeds.size} seeds lose no record of a stream that comes and goes, and repeat none") {
    val totals = SeedRuns.run(LogicalSide, seeds, steps, SimulationOptions().threads)()
    totals.wrong.headOption.foreach { first =>
      val shortened = LogicalSide.shrink(first)
      fail(s"${totals.wrong.size} seeds failed: ${totals.wrong.map(_.scenario.seed).sorted.mkString(", ")}\n" +
        s"${shortened.violation.getMessage}\n${shortened.asTest}")
    }
    // Seeds in which no stream comes or goes would prove nothing.
    assert(totals("delivered") > 50L * seeds.size)
    assert(totals("streamsJoined") > seeds.size && totals("runsWithoutLoss") > seeds.size / 4)
    assert(totals("streamsParked") > seeds.size / 10 && totals("streamsReturned") > seeds.size / 10)
    assert(totals("streamsDropped") > 0)
    assert(totals.group("faults").keySet.filter(_.startsWith("Metadata")) == Set(
      "MetadataDown",
      "MetadataEmpty",
      "MetadataLacking",
      "MetadataOlder",
      "MetadataOtherStream",
      "MetadataSlow",
      "MetadataTruncated",
      "MetadataUnknownState"
    ))
  }

  test("the same seed gives the same run twice") {
    (1L to 10L).foreach { seed =>
      val scenario = ReadScenarios.logical(seed, steps)
      val traces = Seq.fill(2) {
        val lines = Vector.newBuilder[String]
        LogicalSide.run(scenario, lines += _)
        lines.result()
      }
      assert(traces.head == traces.last, s"seed $seed")
    }
  }
}
