package org.sparkkinesis.simulation.write

import org.sparkkinesis.simulation.common._

/** Runs scenarios of the writing side, and shortens those that fail. */
object WriteRuns {

  /** Runs a scenario. `trace` receives its steps. */
  def run(scenario: WriteScenario, trace: String => Unit = _ => ()): Either[Violation, WriteOutcome] =
    try Right(new WriteSimulation(scenario, trace).run())
    catch {
      case violation: Violation => Left(violation)
      case failure: Throwable => Left(new Violation("simulation", failure.toString, failure))
    }

  def shrink(scenario: WriteScenario, violation: Violation): WriteScenario = {
    def fails(candidate: WriteScenario): Boolean = run(candidate).left.exists(_.kind == violation.kind)
    val actions = Shrinker.shrink(scenario.actions)(actions => fails(scenario.copy(actions = actions)))(simpler)
    val plain = WriteSetup()
    val forms = Seq[WriteSetup => WriteSetup](
      _.copy(failPercent = 0, speculationPercent = 0),
      _.copy(hashKeyPercent = 0),
      _.copy(rowPauseMillis = 0),
      _.copy(executors = 1),
      _.copy(tasks = 1),
      _.copy(model = plain.model),
      _.copy(targets = plain.targets)
    ) ++ scenario.setup.options.keys.toSeq.sorted.map { option => (setup: WriteSetup) =>
      setup.copy(options = setup.options - option)
    }
    forms.foldLeft(scenario.copy(actions = actions)) { (best, form) =>
      val candidate = best.copy(setup = form(best.setup))
      if (candidate != best && fails(candidate)) candidate else best
    }
  }

  /** Returns the scenario as a test for a suite like [[WriteFindingsSuite]]. */
  def asTest(scenario: WriteScenario, violation: Violation): String = {
    val actions = scenario.actions.map(action => s"        ${ScalaText(action)}").mkString(",\n")
    s"""  test("seed ${scenario.seed}: ${violation.kind}") {
       |    run(WriteScenario(
       |      ${ScalaText(scenario.seed)},
       |      ${ScalaText(scenario.setup)},
       |      Vector(
       |$actions
       |      )
       |    ))
       |  }""".stripMargin
  }

  private def simpler(action: WriteAction): Seq[WriteAction] = action match {
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
}
