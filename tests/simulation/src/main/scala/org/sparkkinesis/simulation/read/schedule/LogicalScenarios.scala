package org.sparkkinesis.simulation.read.schedule

import scala.util.Random

import org.sparkkinesis.simulation.metadata.{MetadataFault, NamedState}

/** Makes scenarios of queries that read a logical stream, whose streams come and go. */
private[schedule] object LogicalScenarios {
  import ReadAction._

  /** The percentage of pauses that a change of the metadata follows. */
  private val ChangePercent = 30
  private val Second = 1000L
  private val Minute = 60 * Second

  def of(scenario: ReadScenario, random: Random): ReadScenario = {
    val streams = 2 + random.nextInt(2)
    def one[A](items: A*): A = items(random.nextInt(items.size))
    val isSlow = scenario.setup.options.get("minFetchPeriod").contains("4m")
    val first = NamedState.Active +:
      Vector.fill(streams - 1)(one(NamedState.Active, NamedState.Absent, NamedState.Standby))
    val actions = scenario.actions.flatMap {
      case pause: Advance if random.nextInt(100) < ChangePercent => Seq(pause, change(random, streams, isSlow))
      case other => Seq(other)
    }
    val options = Map(
      "metadataRefreshInterval" -> (if (isSlow) one("5m", "20m") else one("1s", "5s", "20s")),
      "drainGrace" -> one("0ms", "10s", "10m"),
      "drainTimeout" -> one("1m", "1h", "1h"),
      "onStreamRemoved" -> one("drain", "drain", "park"),
      "removalConfirmations" -> one("1", "2", "3"),
      "removedStreamRetention" -> one("1h", "365d", "365d")
    )
    val setup = scenario.setup.copy(
      streams = streams,
      logical = first,
      options = scenario.setup.options ++ options
    )
    scenario.copy(setup = setup, actions = actions)
  }

  private def change(random: Random, streams: Int, isSlow: Boolean): ReadAction = {
    def one[A](items: A*): A = items(random.nextInt(items.size))
    val stream = random.nextInt(streams)
    random.nextInt(100) match {
      case n if n < 25 => Name(stream, NamedState.Active)
      case n if n < 45 => Name(stream, NamedState.Draining)
      case n if n < 60 => Name(stream, NamedState.Absent)
      case n if n < 65 => Name(stream, NamedState.Standby)
      case n if n < 75 => Migrate(stream, (stream + 1) % streams)
      case _ =>
        val fault = one(
          MetadataFault.Down,
          MetadataFault.Down,
          MetadataFault.Slow(1 + random.nextInt(10)),
          MetadataFault.Truncated,
          MetadataFault.UnknownState,
          MetadataFault.Empty,
          MetadataFault.OtherStream,
          MetadataFault.Older,
          MetadataFault.Lacking(stream)
        )
        FailMetadata(fault, Second + random.nextInt((if (isSlow) 60 * Minute else Minute).toInt))
    }
  }
}
