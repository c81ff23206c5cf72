package org.sparkkinesis.simulation.read

import org.sparkkinesis.simulation.common.{ScalaText, Shrinker, Violation}

/** A failed scenario, shortened. */
final case class FailedRun(scenario: ReadScenario, violation: Violation) {

  /** Returns the scenario as a test for a suite like [[ReadFindingsSuite]]. */
  def asTest: String = {
    val actions = scenario.actions.map(action => s"      ${ScalaText(action)}").mkString(",\n")
    s"""  test("seed ${scenario.seed}: ${violation.kind}") {
       |    run(ReadScenario(
       |      ${ScalaText(scenario.seed)},
       |      ${ScalaText(scenario.setup)},
       |      Vector(
       |  ${actions.replace("\n", "\n  ")}
       |      )
       |    ))
       |  }""".stripMargin
  }
}

object ReadRuns {

  /** Runs a scenario. `trace` receives its steps. */
  def run(scenario: ReadScenario, trace: String => Unit = _ => ()): Either[Violation, ReadOutcome] =
    try Right(new ReadSimulation(scenario, trace).run())
    catch {
      case violation: Violation => Left(violation)
      case failure: Throwable => Left(new Violation("simulation", failure.toString, failure))
    }

  def shrink(scenario: ReadScenario, violation: Violation): FailedRun = {
    def fails(actions: Vector[ReadAction]): Boolean =
      run(scenario.copy(actions = actions)).left.exists(_.kind == violation.kind)
    val actions = Shrinker.shrink(scenario.actions)(fails)(simpler)
    val shortened = simplest(scenario.copy(actions = actions), violation)
    FailedRun(shortened, run(shortened).left.getOrElse(violation))
  }

  /** Replaces settings by their defaults as long as the scenario still fails. */
  private def simplest(scenario: ReadScenario, violation: Violation): ReadScenario = {
    val plain = ReadSetup()
    val forms = Seq[ReadSetup => ReadSetup](
      _.copy(tasks = plain.tasks),
      _.copy(model = plain.model),
      _.copy(executors = plain.executors),
      setup => setup.copy(options = setup.options.filter { case (name, _) => Paces(name) }),
      _.copy(initialPosition = plain.initialPosition, positionAgeMillis = 0),
      _.copy(shards = 1),
      _.copy(streams = 1)
    )
    forms.foldLeft(scenario) { (best, form) =>
      val candidate = best.copy(setup = form(best.setup))
      if (candidate != best && run(candidate).left.exists(_.kind == violation.kind)) candidate else best
    }
  }

  /** Options that stay, because without them a run of days has too many events. */
  private val Paces = Set("minFetchPeriod", "shardFetchInterval")

  private def simpler(action: ReadAction): Seq[ReadAction] = action match {
    case ReadAction.PutTo(shard, count) if count > 1 =>
      Seq(ReadAction.PutTo(shard, 1), ReadAction.PutTo(shard, count / 2))
    case ReadAction.Put(count) if count > 1 => Seq(ReadAction.Put(1), ReadAction.Put(count / 2))
    case ReadAction.Advance(millis) =>
      Seq(3600000L, 60000L, 1000L).map(unit => ReadAction.Advance((millis + unit / 2) / unit * unit)).filter(_.millis >
        0)
    case _ => Nil
  }
}
