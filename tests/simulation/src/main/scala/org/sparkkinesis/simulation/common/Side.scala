package org.sparkkinesis.simulation.common

/**
 * A run that the same seed repeats exactly.
 *
 * @tparam A
 *   the actions of its schedule
 */
trait Scenario[A] extends Product {
  def seed: Long
  def setup: Product
  def actions: Vector[A]
}

/** A failed scenario, possibly shortened. */
final case class FailedRun[S <: Scenario[_]](scenario: S, violation: Violation) {

  /** Returns the scenario as a test for a suite of findings. */
  def asTest: String = {
    val actions = scenario.actions.map(action => s"        ${ScalaText(action)}").mkString(",\n")
    s"""  test("seed ${scenario.seed}: ${violation.kind}") {
       |    run(${scenario.productPrefix}(
       |      ${ScalaText(scenario.seed)},
       |      ${ScalaText(scenario.setup)},
       |      Vector(
       |$actions
       |      )
       |    ))
       |  }""".stripMargin
  }
}

/**
 * One side of the connector: creates the scenarios of seeds, runs them, and shortens those that fail.
 *
 * @tparam S
 *   the scenario
 * @tparam A
 *   the actions
 * @tparam O
 *   the outcome of a run without a failure
 */
abstract class Side[S <: Scenario[A], A, O](val name: String) {

  /** Creates the scenario of a seed with at most about this number of actions. */
  def scenario(seed: Long, steps: Int): S

  /** Runs a scenario, or throws a [[Violation]]. */
  protected def simulate(scenario: S, trace: String => Unit): O

  protected def withActions(scenario: S, actions: Vector[A]): S

  /** Returns simpler forms of an action, the simplest first. */
  protected def simpler(action: A): Seq[A]

  /** Returns functions that each replace a setting by its default. */
  protected def plainer(scenario: S): Seq[S => S]

  /** Returns the figures of a run that are summed over seeds. A dot in a name separates a group from its member. */
  protected def figures(outcome: O): Map[String, Long]

  /** Runs a scenario. `trace` receives its steps. */
  final def run(scenario: S, trace: String => Unit = _ => ()): Either[Violation, O] =
    try Right(simulate(scenario, trace))
    catch {
      case violation: Violation => Left(violation)
      case failure: Throwable => Left(new Violation("simulation", failure.toString, failure))
    }

  /** Returns a short scenario with the same kind of failure. */
  final def shrink(failed: FailedRun[S]): FailedRun[S] = {
    def fails(candidate: S): Boolean = run(candidate).left.exists(_.kind == failed.violation.kind)
    val long = failed.scenario
    val short = withActions(long, Shrinker.shrink(long.actions)(some => fails(withActions(long, some)))(simpler))
    val plain = plainer(short).foldLeft(short) { (best, form) =>
      val candidate = form(best)
      if (candidate != best && fails(candidate)) candidate else best
    }
    FailedRun(plain, run(plain).left.getOrElse(failed.violation))
  }

  /** Runs a seed and returns its figures, or its failure. */
  final def totals(seed: Long, steps: Int): SeedTotals[S] = {
    val created = scenario(seed, steps)
    val counts = Map("seeds" -> 1L, "steps" -> created.actions.size.toLong)
    run(created) match {
      case Right(outcome) => SeedTotals(counts ++ figures(outcome))
      case Left(violation) => SeedTotals(counts, Vector(FailedRun(created, violation)))
    }
  }
}
