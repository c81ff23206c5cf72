package org.sparkkinesis.simulation

import java.util.concurrent.atomic.AtomicLong

import org.sparkkinesis.json.Json
import org.sparkkinesis.simulation.common.Arguments
import org.sparkkinesis.simulation.read.{FailedRun, ReadRuns, SeedRuns, SeedTotals}
import org.sparkkinesis.simulation.write.{FailedWrite, WriteRuns, WriteSeeds, WriteTotals}

/**
 * The main class of `tests/simulation/run`: runs seeds and prints the shortened schedule of each failed seed as a
 * test.
 */
object SimulationMain {

  /** The interval of progress messages on standard error. */
  private val Progress = 1000L

  def main(arguments: Array[String]): Unit = Arguments.parse(arguments.toList) match {
    case Left(problem) =>
      System.err.println(s"tests/simulation/run: $problem")
      sys.exit(2)
    case Right(wanted) => sys.exit(if (run(wanted)) 0 else 1)
  }

  /** The result of one side. */
  final private case class Ran(side: String, isRight: Boolean, text: String, json: Json)

  private def run(wanted: Arguments): Boolean = {
    val sides = Seq[(String, Arguments => Ran)]("read" -> read, "write" -> write)
    val ran = sides.collect { case (side, run) if wanted.side.forall(_ == side) => run(wanted) }
    ran match {
      case Seq(one) if wanted.json => println(Json.render(one.json))
      case all if wanted.json => println(Json.render(Json.obj(all.map(side => side.side -> side.json): _*)))
      case all => all.foreach(side => println(s"${side.side}: ${side.text}"))
    }
    ran.forall(_.isRight)
  }

  private def read(wanted: Arguments): Ran = {
    val began = System.nanoTime()
    val done = new AtomicLong
    val seeds = wanted.first.toInt to (wanted.first + wanted.seeds - 1).toInt
    val totals = SeedRuns.run(seeds, wanted.steps, wanted.threads)(show(wanted)) { _ =>
      val count = done.incrementAndGet()
      if (count % Progress == 0)
        System.err.println(f"$count of ${wanted.seeds} seeds, ${(System.nanoTime() - began) / 1e9}%.0f s")
    }
    val seconds = (System.nanoTime() - began) / 1e9
    Ran("read", totals.wrong.isEmpty, text(totals, seconds), json(wanted, totals, seconds))
  }

  private def write(wanted: Arguments): Ran = {
    val began = System.nanoTime()
    val seeds = wanted.first.toInt to (wanted.first + wanted.seeds - 1).toInt
    val totals = WriteSeeds.run(seeds, wanted.steps, wanted.threads)(showWrite(wanted))
    val seconds = (System.nanoTime() - began) / 1e9
    Ran("write", totals.wrong.isEmpty, text(totals, seconds), json(wanted, totals, seconds))
  }

  private def showWrite(wanted: Arguments)(failed: FailedWrite): FailedWrite = {
    val shown =
      if (wanted.shrinks) failed.copy(scenario = WriteRuns.shrink(failed.scenario, failed.violation)) else failed
    val out = if (wanted.json) System.err else System.out
    out.println(s"seed ${shown.scenario.seed} failed: ${shown.violation.getMessage}\n" +
      s"${WriteRuns.asTest(shown.scenario, shown.violation)}\n")
    if (wanted.traces) WriteRuns.run(shown.scenario, out.println(_)).left.foreach(_.printStackTrace(out))
    shown
  }

  private def text(totals: WriteTotals, seconds: Double): String =
    f"${totals("seeds")} seeds in $seconds%.0f s (${seconds * 1000 / totals("seeds")}%.1f ms each): " +
      s"${totals.wrong.size} failed; ${totals("virtualMinutes") / 60} virtual hours, ${totals("rows")} rows, " +
      s"${totals("stored")} stored, ${totals("attempts")} attempts, ${totals("taskFailures")} task failures"

  private def json(wanted: Arguments, totals: WriteTotals, seconds: Double): Json = Json.obj(
    Seq("first" -> Json.num(wanted.first), "seconds" -> Json.num(seconds.toLong)) ++
      totals.counts.toSeq.sortBy(_._1).map { case (name, count) => name -> Json.num(count) } ++ Seq(
        "wrong" -> Json.num(totals.wrong.size.toLong),
        "kinds" -> counts(totals.wrong.groupMapReduce(_.violation.kind)(_ => 1L)(_ + _)),
        "wrongSeeds" -> Json.Arr(totals.wrong.map(_.scenario.seed).sorted.map(Json.num))
      ): _*
  )

  /** With `--json`, standard output contains only the JSON. */
  private def show(wanted: Arguments)(failed: FailedRun): FailedRun = {
    val shown = if (wanted.shrinks) ReadRuns.shrink(failed.scenario, failed.violation) else failed
    val out = if (wanted.json) System.err else System.out
    out.println(s"seed ${shown.scenario.seed} failed: ${shown.violation.getMessage}\n${shown.asTest}\n")
    if (wanted.traces) ReadRuns.run(shown.scenario, out.println(_)).left.foreach(_.printStackTrace(out))
    shown
  }

  private def text(totals: SeedTotals, seconds: Double): String =
    f"${totals.seeds} seeds in $seconds%.0f s (${seconds * 1000 / totals.seeds}%.1f ms each): " +
      f"${totals.wrong.size} failed; ${totals.virtualMillis / 3.6e6}%.0f virtual hours, ${totals.records} records, " +
      s"${totals.queryStarts} starts, ${totals.lossesReported} losses reported"

  private def json(wanted: Arguments, totals: SeedTotals, seconds: Double): Json = {
    val kinds = totals.wrong.groupMapReduce(_.violation.kind)(_ => 1L)(_ + _)
    Json.obj(
      "seeds" -> Json.num(totals.seeds),
      "first" -> Json.num(wanted.first),
      "steps" -> Json.num(totals.steps),
      "seconds" -> Json.num(seconds.toLong),
      "virtualHours" -> Json.num(totals.virtualMillis / 3600000),
      "records" -> Json.num(totals.records),
      "delivered" -> Json.num(totals.delivered),
      "queryStarts" -> Json.num(totals.queryStarts),
      "queryFailures" -> Json.num(totals.queryFailures),
      "lossesReported" -> Json.num(totals.lossesReported),
      "runsWithoutLoss" -> Json.num(totals.runsWithoutLoss),
      "calls" -> counts(totals.calls),
      "throttled" -> counts(totals.throttled),
      "faults" -> counts(totals.faults),
      "wrong" -> Json.num(totals.wrong.size.toLong),
      "kinds" -> counts(kinds),
      "wrongSeeds" -> Json.Arr(totals.wrong.map(_.scenario.seed).sorted.map(Json.num))
    )
  }

  private def counts(of: Map[String, Long]): Json =
    Json.obj(of.toSeq.sortBy(_._1).map { case (name, count) => name -> Json.num(count) }: _*)
}
