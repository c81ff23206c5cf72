package org.sparkkinesis.simulation.common

/**
 * Options of a run of the simulation, from its command line.
 *
 * @param seeds
 *   number of seeds, starting at `first`
 * @param steps
 *   maximum number of actions of one run
 * @param side
 *   the side of the connector to run; all of [[SimulationOptions.Sides]] if it is empty
 */
final case class SimulationOptions(
    first: Long = 1,
    seeds: Int = 1000,
    steps: Int = 40,
    threads: Int = Runtime.getRuntime.availableProcessors,
    json: Boolean = false,
    shrinks: Boolean = true,
    traces: Boolean = false,
    side: Option[String] = None
)

object SimulationOptions {
  val Sides: Seq[String] = Seq("read", "logical", "write", "routes")

  @scala.annotation.tailrec
  def parse(
      arguments: List[String],
      before: SimulationOptions = SimulationOptions()
  ): Either[String, SimulationOptions] = arguments match {
    case Nil => Right(before)
    case "--json" :: rest => parse(rest, before.copy(json = true))
    case "--trace" :: rest => parse(rest, before.copy(traces = true))
    case "--no-shrink" :: rest => parse(rest, before.copy(shrinks = false))
    case "--seeds" :: Number(count) :: rest => parse(rest, before.copy(seeds = count.toInt))
    case "--seed" :: Number(seed) :: rest => parse(rest, before.copy(first = seed, seeds = 1))
    case "--first" :: Number(seed) :: rest => parse(rest, before.copy(first = seed))
    case "--threads" :: Number(count) :: rest if count > 0 => parse(rest, before.copy(threads = count.toInt))
    case "--side" :: side :: rest if Sides.contains(side) => parse(rest, before.copy(side = Some(side)))
    case "--steps" :: Number(count) :: rest => parse(rest, before.copy(steps = count.toInt))
    case other :: _ => Left(
        s"'$other' is not understood. Usage: [--side ${Sides.mkString("|")}] [--seeds N] [--first S] [--seed S] " +
          "[--steps N] [--threads N] [--no-shrink] [--trace] [--json]"
      )
  }

  private object Number {
    def unapply(text: String): Option[Long] = text.toLongOption.filter(_ >= 0)
  }
}
