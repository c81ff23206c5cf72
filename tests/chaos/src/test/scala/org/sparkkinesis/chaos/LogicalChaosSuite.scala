package org.sparkkinesis.chaos

import scala.concurrent.duration._

import org.sparkkinesis.chaos.logical.LogicalChaos
import org.sparkkinesis.suite.TimedSuite

/** The short form of [[LogicalChaos]]; the long one is `tests/chaos/run logical`. */
class LogicalChaosSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 8.minutes

  test("streams that leave and return while the driver is killed are read exactly once, each key in order") {
    val plan = LogicalChaos.Plan(
      oscillations = 6,
      records = 0,
      kills = 2,
      rate = 500,
      executors = 0,
      mode = "polling",
      seed = 3
    )
    val outcome = LogicalChaos.run(folder(), plan)
    assert(outcome.isRight, outcome.json)
    assert(outcome.events("returned") == 6 && outcome.events("killedDriver") == 2, outcome.json)
  }
}
