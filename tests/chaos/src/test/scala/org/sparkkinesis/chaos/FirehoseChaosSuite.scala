package org.sparkkinesis.chaos

import scala.concurrent.duration._

import org.sparkkinesis.chaos.firehose.FirehoseRound
import org.sparkkinesis.suite.TimedSuite

/** The short form of `tests/chaos/run firehose`. */
class FirehoseChaosSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 5.minutes

  test("no record is lost under refusals, partial failures, lost answers and an outage") {
    val verdict = new FirehoseRound(seed = 7, 6.seconds).run()
    assert(verdict.ok, verdict.toString)
  }
}
