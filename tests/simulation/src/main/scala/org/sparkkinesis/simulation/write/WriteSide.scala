package org.sparkkinesis.simulation.write

import org.sparkkinesis.simulation.common.Side
import org.sparkkinesis.simulation.write.schedule.{WriteAction, WriteScenario, WriteScenarios, WriteSetup}

/** The writing side, with rows that name their streams. */
object WriteSide extends WriteSide("write", WriteScenarios(_, _))

/** The writing side, with rows that go to a logical stream. */
object RouteSide extends WriteSide("routes", WriteScenarios.routed)

/**
 * @param scenarioOf
 *   creates the scenario of a seed with at most about a number of actions
 */
sealed abstract class WriteSide(name: String, scenarioOf: (Long, Int) => WriteScenario)
    extends Side[WriteScenario, WriteAction, WriteOutcome](name) {
  override def scenario(seed: Long, steps: Int): WriteScenario = scenarioOf(seed, steps)

  override protected def simulate(scenario: WriteScenario, trace: String => Unit): WriteOutcome =
    new WriteSimulation(scenario, trace).run()

  override protected def withActions(scenario: WriteScenario, actions: Vector[WriteAction]): WriteScenario =
    scenario.copy(actions = actions)

  override protected def simpler(action: WriteAction): Seq[WriteAction] = action match {
    case WriteAction.Batch(rows, keys, bytes) => Seq(
        WriteAction.Batch(1, 1, 30),
        WriteAction.Batch(math.max(1, rows / 2), 1, 30),
        WriteAction.Batch(math.max(1, rows / 2), keys, bytes),
        WriteAction.Batch(rows, 1, 30)
      )
    case WriteAction.Advance(millis) =>
      Seq(1000L, 100L, 10L).map(unit => WriteAction.Advance((millis + unit / 2) / unit * unit)).filter(_.millis > 0)
    case _ => Nil
  }

  override protected def plainer(scenario: WriteScenario): Seq[WriteScenario => WriteScenario] = {
    val plain = WriteSetup()
    val forms = Seq[WriteSetup => WriteSetup](
      _.copy(failPercent = 0, speculationPercent = 0),
      _.copy(hashKeyPercent = 0),
      _.copy(rowPauseMillis = 0),
      _.copy(executors = 1),
      _.copy(tasks = 1),
      _.copy(model = plain.model),
      setup => if (setup.isLogical) setup else setup.copy(targets = plain.targets)
    ) ++ scenario.setup.options.keys.toSeq.sorted.map { option => (setup: WriteSetup) =>
      setup.copy(options = setup.options - option)
    }
    forms.map(form => (of: WriteScenario) => of.copy(setup = form(of.setup)))
  }

  override protected def figures(outcome: WriteOutcome): Map[String, Long] = Map(
    "virtualMinutes" -> outcome.virtualMillis / 60000,
    "rows" -> outcome.rows,
    "stored" -> outcome.stored,
    "duplicates" -> outcome.duplicates,
    "batches" -> outcome.batches.toLong,
    "attempts" -> outcome.attempts,
    "taskFailures" -> outcome.failures.size.toLong,
    "routeSwitches" -> outcome.switches,
    "routeRepeats" -> outcome.repeats,
    "streamsLeft" -> outcome.streamsLeft
  )
}
