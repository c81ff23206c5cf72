package org.sparkkinesis.simulation.write

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{Callable, Executors}

import org.sparkkinesis.simulation.common.Violation

/** A failed seed. */
final case class FailedWrite(scenario: WriteScenario, violation: Violation)

/** The sums over many runs of the writing side. */
final case class WriteTotals(counts: Map[String, Long] = Map.empty, wrong: Vector[FailedWrite] = Vector.empty) {
  def +(other: WriteTotals): WriteTotals = WriteTotals(
    (counts.keySet ++ other.counts.keySet).iterator.map(name => name -> (apply(name) + other(name))).toMap,
    wrong ++ other.wrong
  )

  def apply(name: String): Long = counts.getOrElse(name, 0L)
}

/** Runs seeds on several threads. Each seed has its own state and gives the same result on any thread. */
object WriteSeeds {

  /**
   * @param failed
   *   handles a failed scenario, on the thread that ran it
   */
  def run(seeds: Range.Inclusive, steps: Int, threads: Int)(failed: FailedWrite => FailedWrite): WriteTotals = {
    val next = new AtomicLong(seeds.start.toLong)
    val pool = Executors.newFixedThreadPool(threads)
    def work(): WriteTotals = {
      var totals = WriteTotals()
      var seed = next.getAndIncrement()
      while (seed <= seeds.end) {
        val scenario = WriteScenarios(seed, steps)
        totals += WriteRuns.run(scenario).fold(
          violation => WriteTotals(Map("seeds" -> 1), Vector(failed(FailedWrite(scenario, violation)))),
          of(scenario, _)
        )
        seed = next.getAndIncrement()
      }
      totals
    }
    try Seq.fill(threads)(pool.submit((() => work()): Callable[WriteTotals])).map(_.get()).reduce(_ + _)
    finally {
      pool.shutdownNow()
      ()
    }
  }

  private def of(scenario: WriteScenario, outcome: WriteOutcome): WriteTotals = WriteTotals(Map(
    "seeds" -> 1,
    "steps" -> scenario.actions.size.toLong,
    "virtualMinutes" -> outcome.virtualMillis / 60000,
    "rows" -> outcome.rows,
    "stored" -> outcome.stored,
    "duplicates" -> outcome.duplicates,
    "batches" -> outcome.batches.toLong,
    "attempts" -> outcome.attempts,
    "taskFailures" -> outcome.failures.size.toLong
  ))
}
