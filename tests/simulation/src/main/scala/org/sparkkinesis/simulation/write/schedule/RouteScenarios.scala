package org.sparkkinesis.simulation.write.schedule

import scala.util.Random

import org.sparkkinesis.simulation.metadata.{LogicalStream, MetadataFault, NamedState}

/** Makes scenarios of queries that write to a logical stream, whose streams come and go. */
private[schedule] object RouteScenarios {
  import WriteAction._

  /** The percentage of pauses that a change of the metadata, or the end of the driver, follows. */
  private val ChangePercent = 40
  private val Second = 1000L

  def of(scenario: WriteScenario, random: Random): WriteScenario = {
    def one[A](items: A*): A = items(random.nextInt(items.size))
    val streams = 2 + random.nextInt(2)
    val first =
      NamedState.Active +: Vector.fill(streams - 1)(one(NamedState.Active, NamedState.Absent, NamedState.Standby))
    val actions = scenario.actions.flatMap {
      case pause: Advance if random.nextInt(100) < ChangePercent => Seq(pause, change(random, streams))
      case other => Seq(other)
    }
    val options = Map(
      "streamId" -> LogicalStream.Id,
      "metadataService" -> "class:simulation",
      "metadataAllowedAccounts" -> WriteSetup.accounts(streams).mkString(","),
      "metadataRefreshInterval" -> one("1s", "5s", "20s"),
      "router" -> one("roundRobin", "hash", "hash", "priority"),
      "requestTimeout" -> one("500ms", "2s")
    )
    val setup = scenario.setup.copy(
      shards = Vector.fill(streams)(1 + random.nextInt(3)),
      targets = Vector(WriteTarget.Logical),
      options = scenario.setup.options ++ options,
      logical = first
    )
    scenario.copy(setup = setup, actions = actions)
  }

  private def change(random: Random, streams: Int): WriteAction = {
    def one[A](items: A*): A = items(random.nextInt(items.size))
    val stream = random.nextInt(streams)
    random.nextInt(100) match {
      case n if n < 25 => NameStream(stream, NamedState.Active)
      case n if n < 35 => NameStream(stream, NamedState.Draining)
      case n if n < 40 => NameStream(stream, NamedState.Standby)
      case n if n < 50 => NameStream(stream, NamedState.Absent)
      case n if n < 65 => Migrate(stream, (stream + 1) % streams)
      case n if n < 75 => KillDriver(1 + random.nextInt(8))
      case n if n < 80 => Restart
      case _ =>
        val fault = one(
          MetadataFault.Down,
          MetadataFault.Down,
          MetadataFault.Truncated,
          MetadataFault.UnknownState,
          MetadataFault.Empty,
          MetadataFault.OtherStream,
          MetadataFault.Older,
          MetadataFault.Lacking(stream)
        )
        FailMetadata(fault, Second + random.nextInt(60 * Second.toInt))
    }
  }
}
