package org.sparkkinesis.simulation.common

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{Callable, Executors}

import org.sparkkinesis.json.Json

/** The sums of the figures of many runs, and the runs that failed. */
final case class SeedTotals[S <: Scenario[_]](
    counts: Map[String, Long] = Map.empty,
    wrong: Vector[FailedRun[S]] = Vector.empty
) {
  def apply(name: String): Long = counts.getOrElse(name, 0L)

  /** Returns the figures whose names begin with this word and a dot, without them. */
  def group(name: String): Map[String, Long] = counts.collect {
    case (member, count) if member.startsWith(s"$name.") => member.drop(name.length + 1) -> count
  }

  def +(other: SeedTotals[S]): SeedTotals[S] = SeedTotals(
    other.counts.foldLeft(counts) { case (all, (name, count)) => all.updated(name, all.getOrElse(name, 0L) + count) },
    wrong ++ other.wrong
  )

  /** Returns the figures as JSON; each group is an object. */
  def json: Seq[(String, Json)] = {
    val (grouped, single) = counts.partition(_._1.contains('.'))
    val groups = grouped.keySet.map(_.takeWhile(_ != '.')).toSeq.sorted
    SeedTotals.numbers(single) ++ groups.map(name => name -> Json.obj(SeedTotals.numbers(group(name)): _*)) ++ Seq(
      "wrong" -> Json.num(wrong.size.toLong),
      "kinds" -> Json.obj(SeedTotals.numbers(wrong.groupMapReduce(_.violation.kind)(_ => 1L)(_ + _)): _*),
      "wrongSeeds" -> Json.Arr(wrong.map(_.scenario.seed).sorted.map(Json.num))
    )
  }
}

object SeedTotals {
  private def numbers(of: Map[String, Long]): Seq[(String, Json)] =
    of.toSeq.sortBy(_._1).map { case (name, count) => name -> Json.num(count) }
}

/** Runs seeds on several threads. Each seed has its own state and gives the same result on any thread. */
object SeedRuns {

  /**
   * @param failed
   *   handles a failed scenario, on the thread that ran it
   * @param onRun
   *   called for each finished seed, on any thread
   */
  def run[S <: Scenario[_]](side: Side[S, _, _], seeds: Range.Inclusive, steps: Int, threads: Int)(
      failed: FailedRun[S] => FailedRun[S] = identity[FailedRun[S]] _,
      onRun: Long => Unit = _ => ()
  ): SeedTotals[S] = {
    val next = new AtomicLong(seeds.start.toLong)
    val pool = Executors.newFixedThreadPool(threads)
    def work(): SeedTotals[S] = {
      var totals = SeedTotals[S]()
      var seed = next.getAndIncrement()
      while (seed <= seeds.end) {
        val one = side.totals(seed, steps)
        totals += one.copy(wrong = one.wrong.map(failed))
        onRun(seed)
        seed = next.getAndIncrement()
      }
      totals
    }
    try Seq.fill(threads)(pool.submit((() => work()): Callable[SeedTotals[S]])).map(_.get()).reduce(_ + _)
    finally {
      pool.shutdownNow()
      ()
    }
  }
}
