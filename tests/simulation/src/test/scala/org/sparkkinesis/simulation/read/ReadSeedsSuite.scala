package org.sparkkinesis.simulation.read

import java.util.concurrent.{Callable, Executors}

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.simulation.common.{Arguments, Violation}

/** Always the same seeds, on all cores. One that fails shows its shortened schedule, to be kept in [[ReadFindingsSuite]]. */
class ReadSeedsSuite extends AnyFunSuite {
  private val seeds = 1L to 2000L

  test(s"the schedules of ${seeds.size} seeds lose nothing, repeat nothing, and end") {
    val pool = Executors.newFixedThreadPool(Runtime.getRuntime.availableProcessors)
    try {
      val runs = seeds.map { seed =>
        pool.submit((() => ReadRuns.run(ReadScenarios(seed, Arguments().steps)).left.map(seed -> _)): Callable[
          Either[(Long, Violation), ReadOutcome]
        ])
      }
      val (failed, outcomes) = runs.map(_.get()).partitionMap(identity)
      failed.headOption.foreach { case (seed, violation) =>
        val shortened = ReadRuns.shrink(ReadScenarios(seed, Arguments().steps), violation)
        fail(s"${failed.size} seeds failed: ${failed.map(_._1).mkString(", ")}\n" +
          s"${shortened.violation.getMessage}\n${shortened.asTest}")
      }
      // Seeds that put or lose nothing would prove nothing.
      assert(outcomes.map(_.delivered.toLong).sum > 50L * seeds.size)
      assert(outcomes.exists(_.losses > 0) && outcomes.exists(_.losses == 0))
      assert(outcomes.flatMap(_.calls.keys).exists(_.toString.contains("SubscribeToShard")))
    } finally {
      pool.shutdownNow()
      ()
    }
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
