package org.sparkkinesis.simulation

import org.sparkkinesis.json.Json
import org.sparkkinesis.simulation.common.Arguments
import org.sparkkinesis.simulation.read.{FailedRun, ReadOutcome, ReadRuns, ReadScenarios}

/**
 * The main class of `tests/simulation/run`: runs seeds and prints the shortened schedule of each failed seed as a
 * test.
 */
object SimulationMain {

  def main(arguments: Array[String]): Unit = Arguments.parse(arguments.toList) match {
    case Left(problem) =>
      System.err.println(s"tests/simulation/run: $problem")
      sys.exit(2)
    case Right(wanted) => sys.exit(if (run(wanted)) 0 else 1)
  }

  private def run(wanted: Arguments): Boolean = {
    val began = System.nanoTime()
    val (failed, outcomes) = (wanted.first until wanted.first + wanted.seeds).toVector.partitionMap { seed =>
      val scenario = ReadScenarios(seed, wanted.steps)
      ReadRuns.run(scenario).left.map { violation =>
        val shrunk = if (wanted.shrinks) ReadRuns.shrink(scenario, violation) else FailedRun(scenario, violation)
        if (!wanted.json) show(shrunk)
        if (wanted.traces) ReadRuns.run(shrunk.scenario, println(_)).left.foreach(_.printStackTrace(System.out))
        shrunk
      }
    }
    val seconds = (System.nanoTime() - began) / 1e9
    println(if (wanted.json) json(wanted, outcomes, failed, seconds) else text(outcomes, failed, seconds))
    failed.isEmpty
  }

  private def show(failed: FailedRun): Unit =
    println(s"seed ${failed.scenario.seed} failed: ${failed.violation.getMessage}\n${failed.asTest}\n")

  private def text(outcomes: Vector[ReadOutcome], failed: Vector[FailedRun], seconds: Double): String = {
    val runs = outcomes.size + failed.size
    f"$runs seeds in $seconds%.0f s (${seconds * 1000 / runs}%.1f ms each): ${failed.size} failed; " +
      f"${outcomes.map(_.virtualMillis).sum / 3.6e6}%.0f virtual hours, ${outcomes.map(_.records).sum} records, " +
      s"${outcomes.map(_.queries).sum} starts, ${outcomes.map(_.losses).sum} losses reported"
  }

  private def json(
      wanted: Arguments,
      outcomes: Vector[ReadOutcome],
      failed: Vector[FailedRun],
      seconds: Double
  ): String = {
    val kinds = failed.groupBy(_.violation.kind).map { case (kind, of) => kind -> Json.num(of.size.toLong) }
    Json.render(
      Json.obj(
        "seeds" -> Json.num(wanted.seeds.toLong),
        "first" -> Json.num(wanted.first),
        "steps" -> Json.num(wanted.steps.toLong),
        "seconds" -> Json.num(seconds.toLong),
        "virtualHours" -> Json.num(outcomes.map(_.virtualMillis).sum / 3600000),
        "records" -> Json.num(outcomes.map(_.records.toLong).sum),
        "delivered" -> Json.num(outcomes.map(_.delivered.toLong).sum),
        "queryStarts" -> Json.num(outcomes.map(_.queries.toLong).sum),
        "queryFailures" -> Json.num(outcomes.map(_.failures.size.toLong).sum),
        "lossesReported" -> Json.num(outcomes.map(_.losses.toLong).sum),
        "failed" -> Json.num(failed.size.toLong),
        "kinds" -> Json.obj(kinds.toSeq: _*),
        "failedSeeds" -> Json.Arr(failed.map(run => Json.num(run.scenario.seed)))
      )
    )
  }
}
