package org.sparkkinesis.chaos

import scala.concurrent.duration._

import org.sparkkinesis.suite.TimedSuite

/** The short form of [[KillRestart]]; the long one is `tests/chaos/run kill-restart`. */
class KillRestartSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 8.minutes

  test("a query that is killed and restarted reads every record once, and both actions on a batch get the same rows") {
    val outcome = KillRestart.run(folder(), records = 60000, shards = 8, restarts = 3, actions = 2, seed = 5)
    assert(outcome.verdict.faults == Nil, outcome.json)
    assert(outcome.verdict.rows == 60000L)
    assert(outcome.killPoints.size == 3)
  }
}
