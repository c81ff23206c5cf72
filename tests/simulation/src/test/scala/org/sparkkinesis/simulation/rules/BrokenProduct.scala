package org.sparkkinesis.simulation.rules

import org.sparkkinesis.simulation.common.Violation

/**
 * A product that breaks a rule of the simulation.
 *
 * @param rule
 *   the rule as the table in README.md states it
 * @param kind
 *   the kind of violation that must be found
 */
final class BrokenProduct private (val rule: String, val sabotage: String, val kind: String, run: () => Any) {

  /** Returns the kind of violation that was found; empty if none was found. */
  def found: Option[String] =
    try {
      run()
      None
    } catch { case violation: Violation => Some(violation.kind) }

  override def toString: String = s"$rule: $sabotage"
}

object BrokenProduct {
  def apply(rule: String, sabotage: String, kind: String)(run: => Any): BrokenProduct =
    new BrokenProduct(rule, sabotage, kind, () => run)
}
