package org.sparkkinesis.simulation

import java.util.concurrent.atomic.AtomicLong

import org.sparkkinesis.json.Json
import org.sparkkinesis.simulation.common._
import org.sparkkinesis.simulation.read.{LogicalSide, ReadSide}
import org.sparkkinesis.simulation.write.{RouteSide, WriteSide}

/**
 * The main class of `tests/simulation/run`: runs seeds and prints the shortened schedule of each failed seed as a
 * test.
 */
object SimulationMain {

  /** The interval of progress messages on standard error. */
  private val Progress = 1000L

  def main(arguments: Array[String]): Unit = SimulationOptions.parse(arguments.toList) match {
    case Left(problem) =>
      System.err.println(s"tests/simulation/run: $problem")
      sys.exit(2)
    case Right(wanted) => sys.exit(if (run(wanted)) 0 else 1)
  }

  /** The result of one side. */
  final private case class Ran(side: String, isRight: Boolean, text: String, json: Json)

  private def run(wanted: SimulationOptions): Boolean = {
    val sides = wanted.side.fold(SimulationOptions.Sides)(Seq(_))
    val all = sides.map {
      case "logical" => ran(LogicalSide, wanted)
      case "write" => ran(WriteSide, wanted)
      case "routes" => ran(RouteSide, wanted)
      case _ => ran(ReadSide, wanted)
    }
    all match {
      case Seq(one) if wanted.json => println(Json.render(one.json))
      case several if wanted.json => println(Json.render(Json.obj(several.map(side => side.side -> side.json): _*)))
      case several => several.foreach(side => println(s"${side.side}: ${side.text}"))
    }
    all.forall(_.isRight)
  }

  private def ran[S <: Scenario[A], A](side: Side[S, A, _], wanted: SimulationOptions): Ran = {
    val began = System.nanoTime()
    def seconds: Double = (System.nanoTime() - began) / 1e9
    val done = new AtomicLong
    val seeds = wanted.first.toInt to (wanted.first + wanted.seeds - 1).toInt
    val totals = SeedRuns.run(side, seeds, wanted.steps, wanted.threads)(
      show(side, wanted),
      _ => {
        val count = done.incrementAndGet()
        if (count % Progress == 0) System.err.println(f"$count of ${wanted.seeds} seeds, $seconds%.0f s")
      }
    )
    val json =
      Json.obj(Seq("first" -> Json.num(wanted.first), "seconds" -> Json.num(seconds.toLong)) ++ totals.json: _*)
    Ran(side.name, totals.wrong.isEmpty, text(totals, seconds), json)
  }

  /** With `--json`, standard output contains only the JSON. */
  private def show[S <: Scenario[A], A](
      side: Side[S, A, _],
      wanted: SimulationOptions
  )(failed: FailedRun[S]): FailedRun[S] = {
    val shown = if (wanted.shrinks) side.shrink(failed) else failed
    val out = if (wanted.json) System.err else System.out
    out.println(s"seed ${shown.scenario.seed} failed: ${shown.violation.getMessage}\n${shown.asTest}\n")
    if (wanted.traces) side.run(shown.scenario, out.println(_)).left.foreach(_.printStackTrace(out))
    shown
  }

  private def text(totals: SeedTotals[_], seconds: Double): String = {
    val figures = totals.counts.toSeq.filterNot(_._1.contains('.')).sortBy(_._1)
      .collect { case (name, count) if name != "seeds" => s"$count $name" }
    f"${totals("seeds")} seeds in $seconds%.0f s (${seconds * 1000 / totals("seeds")}%.1f ms each), " +
      s"${totals.wrong.size} wrong: ${figures.mkString(", ")}"
  }
}
