package org.sparkkinesis.simulation.read

import org.sparkkinesis.simulation.common.Side
import org.sparkkinesis.simulation.read.schedule.{ReadAction, ReadScenario, ReadScenarios, ReadSetup}

/** The reading side, with queries that list their streams. */
object ReadSide extends ReadSide("read", ReadScenarios(_, _))

/** The reading side, with queries that read a logical stream. */
object LogicalSide extends ReadSide("logical", ReadScenarios.logical)

/**
 * @param scenarioOf
 *   creates the scenario of a seed with at most about a number of actions
 */
sealed abstract class ReadSide(name: String, scenarioOf: (Long, Int) => ReadScenario)
    extends Side[ReadScenario, ReadAction, ReadOutcome](name) {
  override def scenario(seed: Long, steps: Int): ReadScenario = scenarioOf(seed, steps)

  override protected def simulate(scenario: ReadScenario, trace: String => Unit): ReadOutcome =
    new ReadSimulation(scenario, trace).run()

  override protected def withActions(scenario: ReadScenario, actions: Vector[ReadAction]): ReadScenario =
    scenario.copy(actions = actions)

  override protected def simpler(action: ReadAction): Seq[ReadAction] = action match {
    case ReadAction.PutTo(shard, count) if count > 1 =>
      Seq(ReadAction.PutTo(shard, 1), ReadAction.PutTo(shard, count / 2))
    case ReadAction.Put(count) if count > 1 => Seq(ReadAction.Put(1), ReadAction.Put(count / 2))
    case ReadAction.Advance(millis) =>
      Seq(3600000L, 60000L, 1000L).map(unit => ReadAction.Advance((millis + unit / 2) / unit * unit))
        .filter(_.millis > 0)
    case _ => Nil
  }

  override protected def plainer(scenario: ReadScenario): Seq[ReadScenario => ReadScenario] = {
    val plain = ReadSetup()
    Seq[ReadSetup => ReadSetup](
      _.copy(tasks = plain.tasks),
      _.copy(model = plain.model),
      _.copy(executors = plain.executors),
      setup => setup.copy(options = setup.options.filter { case (name, _) => Paces(name) }),
      _.copy(initialPosition = plain.initialPosition, positionAgeMillis = 0),
      _.copy(recordBytes = 1),
      _.copy(shards = 1),
      setup => if (setup.isLogical) setup else setup.copy(streams = 1)
    ).map(form => (of: ReadScenario) => of.copy(setup = form(of.setup)))
  }

  override protected def figures(outcome: ReadOutcome): Map[String, Long] = Map(
    "virtualMinutes" -> outcome.virtualMillis / 60000,
    "records" -> outcome.records.toLong,
    "delivered" -> outcome.delivered.toLong,
    "queryStarts" -> outcome.queries.toLong,
    "queryFailures" -> outcome.failures.size.toLong,
    "lossesReported" -> outcome.losses.toLong,
    "realTimeBatches" -> outcome.liveBatches.toLong,
    "runsWithoutLoss" -> (if (outcome.losses == 0) 1L else 0L)
  ) ++ outcome.members.fold(Map.empty[String, Long])(counts =>
    Map(
      "logicalStreams" -> 1L,
      "streamsJoined" -> counts.joined,
      "streamsParked" -> counts.parked,
      "streamsReturned" -> counts.returned,
      "streamsDropped" -> counts.dropped
    )
  ) ++ grouped("calls", outcome.calls) ++ grouped("throttled", outcome.throttled) ++ grouped("faults", outcome.faults)

  private def grouped(group: String, counts: Map[String, Int]): Map[String, Long] =
    counts.map { case (name, count) => s"$group.$name" -> count.toLong }

  /** Options that stay, because without them a run of days has too many events. */
  private val Paces = Set("minFetchPeriod", "shardFetchInterval")
}
