package org.sparkkinesis.chaos

import scala.concurrent.duration._

/** The short form of [[KillRestart]]; the long one is `tests/chaos/run kill-restart`. */
class KillRestartSuite extends munit.FunSuite with TemporaryFolder {
  override def munitTimeout: Duration = 8.minutes

  test("a query that is killed and restarted gives every record once, and both actions on a batch the same rows") {
    val outcome = KillRestart.run(folder(), records = 60000, shards = 8, restarts = 3, actions = 2, seed = 5)
    assertEquals(outcome.verdict.faults, Nil, outcome.json)
    assertEquals(outcome.verdict.rows, 60000L)
    assertEquals(outcome.killPoints.size, 3)
  }
}
