package org.sparkkinesis.simulation.read

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{Callable, Executors}

/** The sums over many runs. */
final case class SeedTotals(
    seeds: Long = 0,
    steps: Long = 0,
    virtualMillis: Long = 0,
    records: Long = 0,
    delivered: Long = 0,
    queryStarts: Long = 0,
    queryFailures: Long = 0,
    lossesReported: Long = 0,
    runsWithoutLoss: Long = 0,
    calls: Map[String, Long] = Map.empty,
    throttled: Map[String, Long] = Map.empty,
    faults: Map[String, Long] = Map.empty,
    wrong: Vector[FailedRun] = Vector.empty
) {
  import SeedTotals.sum

  def +(other: SeedTotals): SeedTotals = SeedTotals(
    seeds + other.seeds,
    steps + other.steps,
    virtualMillis + other.virtualMillis,
    records + other.records,
    delivered + other.delivered,
    queryStarts + other.queryStarts,
    queryFailures + other.queryFailures,
    lossesReported + other.lossesReported,
    runsWithoutLoss + other.runsWithoutLoss,
    sum(calls, other.calls),
    sum(throttled, other.throttled),
    sum(faults, other.faults),
    wrong ++ other.wrong
  )
}

object SeedTotals {
  def of(scenario: ReadScenario, outcome: ReadOutcome): SeedTotals = SeedTotals(
    seeds = 1,
    steps = scenario.actions.size.toLong,
    virtualMillis = outcome.virtualMillis,
    records = outcome.records.toLong,
    delivered = outcome.delivered.toLong,
    queryStarts = outcome.queries.toLong,
    queryFailures = outcome.failures.size.toLong,
    lossesReported = outcome.losses.toLong,
    runsWithoutLoss = if (outcome.losses == 0) 1 else 0,
    calls = long(outcome.calls),
    throttled = long(outcome.throttled),
    faults = long(outcome.faults)
  )

  def ofFailed(run: FailedRun): SeedTotals =
    SeedTotals(seeds = 1, steps = run.scenario.actions.size.toLong, wrong = Vector(run))

  private def long(counts: Map[String, Int]): Map[String, Long] = counts.view.mapValues(_.toLong).toMap

  private def sum(a: Map[String, Long], b: Map[String, Long]): Map[String, Long] =
    b.foldLeft(a) { case (all, (name, count)) => all.updated(name, all.getOrElse(name, 0L) + count) }
}

/** Runs seeds on several threads. Each seed has its own state and gives the same result on any thread. */
object SeedRuns {

  /**
   * @param failed
   *   handles a failed scenario, on the thread that ran it
   * @param onRun
   *   called for each finished seed, on any thread
   */
  def run(seeds: Range.Inclusive, steps: Int, threads: Int)(failed: FailedRun => FailedRun)(
      onRun: Long => Unit
  ): SeedTotals = {
    val next = new AtomicLong(seeds.start.toLong)
    val pool = Executors.newFixedThreadPool(threads)
    def work(): SeedTotals = {
      var totals = SeedTotals()
      var seed = next.getAndIncrement()
      while (seed <= seeds.end) {
        val scenario = ReadScenarios(seed, steps)
        totals += ReadRuns.run(scenario).fold(
          violation => SeedTotals.ofFailed(failed(FailedRun(scenario, violation))),
          SeedTotals.of(scenario, _)
        )
        onRun(seed)
        seed = next.getAndIncrement()
      }
      totals
    }
    try Seq.fill(threads)(pool.submit((() => work()): Callable[SeedTotals])).map(_.get()).reduce(_ + _)
    finally {
      pool.shutdownNow()
      ()
    }
  }
}
