package org.sparkkinesis.chaos

import scala.concurrent.duration._

import org.sparkkinesis.chaos.writing.{FaultRound, OutageRound}
import org.sparkkinesis.suite.TimedSuite

/** The short form of `tests/chaos/run writing`. */
class WritingChaosSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 5.minutes

  for {
    ordered <- Seq(false, true)
    aggregated <- Seq(false, true)
  } test(s"no record is lost under faults and reshards: ordering by key $ordered, aggregation $aggregated") {
    val verdict = new FaultRound(ordered, aggregated, seed = 7, 3.seconds).run()
    assert(verdict.ok, verdict.toString)
  }

  test("writers block with full buffers during an outage and lose no record") {
    val verdict = new OutageRound(seed = 7, 2.seconds).run()
    assert(verdict.ok, verdict.toString)
  }
}
