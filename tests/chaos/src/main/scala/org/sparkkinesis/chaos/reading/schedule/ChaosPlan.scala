package org.sparkkinesis.chaos.reading.schedule

import scala.concurrent.duration._

import org.sparkkinesis.kit.Arguments

/**
 * The settings of a run.
 *
 * @param mode
 *   the first consumer mode of the query
 * @param executors
 *   the number of executors of a standalone cluster; 0 for local mode
 * @param rate
 *   records per second and stream
 * @param quotas
 *   whether the emulator enforces the service's quotas
 * @param sources
 *   the number of streams whose union the query reads, with a source for each
 * @param copies
 *   whether the query also writes its rows to a stream
 */
final case class ChaosPlan(
    length: FiniteDuration,
    seed: Long,
    mode: String,
    executors: Int,
    rate: Int,
    quotas: Boolean = false,
    kinds: Set[ChaosKind] = ChaosKind.Basic,
    sources: Int = 1,
    copies: Boolean = false
) {
  def streams: Vector[String] = Vector.tabulate(sources)(i => if (i == 0) "numbers" else s"numbers-${i + 1}")

  /** Whether events may destroy records, so that the query must report their loss. */
  def loses: Boolean = Seq(ChaosKind.Expire, ChaosKind.ExpireWhileDown, ChaosKind.Recreate).exists(kinds)

  /** Returns whether the run has events of this kind. */
  def has(kind: ChaosKind): Boolean = kinds(kind) &&
    (kind match {
      case ChaosKind.SubscriptionFault => mode == "efo" || kinds(ChaosKind.SwitchMode)
      case ChaosKind.KillExecutor => executors > 0
      case ChaosKind.SinkFault => copies
      case _ => true
    })
}

object ChaosPlan {

  /** The stream to which the query writes. */
  val Copy = "copy"

  def of(arguments: Arguments, seed: Long): ChaosPlan = ChaosPlan(
    arguments.number("seconds", 60).seconds,
    seed,
    arguments.text("mode", "polling"),
    arguments.number("executors", 4),
    arguments.number("rate", 2000),
    arguments.text("quotas", "off") == "on",
    ChaosKind.parse(arguments.text("kinds", "basic")),
    arguments.number("sources", 1),
    arguments.text("copy", "off") == "on"
  )
}
