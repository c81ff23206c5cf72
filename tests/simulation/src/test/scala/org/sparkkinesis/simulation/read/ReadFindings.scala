package org.sparkkinesis.simulation.read

import org.sparkkinesis.simulation.read.schedule.ReadScenario

/** Runs the shortened schedules of fixed failures. README.md lists the seed and the commit that found each. */
trait ReadFindings {
  protected val verySlow = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")
  protected val slow = Map("minFetchPeriod" -> "30s", "shardFetchInterval" -> "5m")
  protected val fast = Map("minFetchPeriod" -> "1s", "shardFetchInterval" -> "10s")
  protected val Hour = 3600000L
  protected val Minute = 60000L

  protected def run(scenario: ReadScenario): ReadOutcome = ReadSide.run(scenario).fold(throw _, identity)

  /** Runs the scenario once for each of the driver's first steps, at which it is killed. */
  protected def killed(scenario: Int => ReadScenario): Unit = (1 to 20).foreach(steps => run(scenario(steps)))
}
