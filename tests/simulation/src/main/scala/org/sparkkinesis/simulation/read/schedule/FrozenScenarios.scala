package org.sparkkinesis.simulation.read.schedule

import scala.util.Random

import org.sparkkinesis.simulation.metadata.NamedState

/**
 * Scenarios in which executors stand still for a while, for example because their containers are paused, while records
 * arrive, streams are deleted, and streams leave.
 */
private[schedule] object FrozenScenarios {
  import ReadAction._

  /** The longest time in milliseconds: later, Spark takes an executor for lost (`spark.network.timeout`). */
  private val Longest = 120000

  /** Adds one to three such times, each after a pause of the scenario. */
  def of(scenario: ReadScenario, random: Random): ReadScenario = {
    val pauses = scenario.actions.indices.filter(index => scenario.actions(index).isInstanceOf[Advance])
    val chosen = random.shuffle(pauses).take(1 + random.nextInt(3)).toSet
    val actions = scenario.actions.zipWithIndex.flatMap { case (action, index) =>
      if (chosen(index)) action +: frozen(scenario.setup, random) else Seq(action)
    }
    scenario.copy(actions = actions)
  }

  private def frozen(setup: ReadSetup, random: Random): Seq[ReadAction] = {
    val millis = 1000L + random.nextInt(Longest)
    val executors = random.shuffle((0 until setup.executors).toVector).take(1 + random.nextInt(setup.executors))
    val meanwhile = Seq(
      Seq(Put(1 + random.nextInt(5))),
      // The executor goes on after the stream is recreated, or while it does not exist.
      if (random.nextInt(3) > 0)
        Seq(Recreate(
          1 + random.nextInt(2),
          if (random.nextBoolean()) 1000L + random.nextInt(60000) else millis * 4 / 3
        ))
      else Nil,
      if (setup.isLogical && random.nextBoolean()) Seq(leave(setup, random)) else Nil
    ).flatten.flatMap(action => Seq(Advance(1L + random.nextInt(millis.toInt / 3)), action))
    executors.map(Freeze(_, millis)) ++ meanwhile
  }

  private def leave(setup: ReadSetup, random: Random): ReadAction = {
    val stream = random.nextInt(setup.streams)
    if (random.nextBoolean()) Name(stream, NamedState.Draining) else Migrate(stream, (stream + 1) % setup.streams)
  }
}
