package org.sparkkinesis.chaos.realtime

import scala.concurrent.duration._

import org.sparkkinesis.chaos.TemporaryFolder
import org.sparkkinesis.suite.TimedSuite

/** The short form of [[RealTimeKills]]; the long one is `tests/chaos/run real-time-kills`. */
class RealTimeKillsSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 10.minutes

  Seq(("polling", 2, 3), ("efo", 3, 2)).foreach { case (mode, executors, kills) =>
    test(s"no record is lost when executors and the driver are killed in a batch; only its rows come again: $mode") {
      val outcome = RealTimeKills.run(folder(), records = 6000, kills, executors, 15, mode, isMixed = false, seed = 7)
      assert(outcome.verdict.faults == Nil, outcome.json)
      assert(outcome.kills.count(_.executor.isEmpty) == 1)
      assert(outcome.recoveryMillis.size == kills && outcome.recoveryMillis.forall(_ > 0), outcome.json)
      assert(outcome.verdict.repeated > 0, s"the kills were within batches: ${outcome.json}")
    }
  }

  test("micro-batches and real-time batches continue each other's checkpoint after kills of the driver") {
    val outcome = RealTimeKills.run(folder(), records = 6000, kills = 4, 2, 15, "polling", isMixed = true, seed = 8)
    assert(outcome.verdict.faults == Nil, outcome.json)
    assert(outcome.kills.count(_.executor.isEmpty) == 2)
    assert(outcome.lives.map(_.isRealTime) == Seq(true, false, true), outcome.json)
    assert(outcome.lives.forall(_.rows > 0) && outcome.lives(1).batches > 1, s"every life read: ${outcome.json}")
  }
}
