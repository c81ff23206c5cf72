package org.sparkkinesis.chaos

import scala.concurrent.duration._

import org.sparkkinesis.suite.TimedSuite

/** The short form of [[ExecutorKill]]; the long one is `tests/chaos/run executor-kill`. */
class ExecutorKillSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 8.minutes

  // The batch uses every slot until all shards are read again. The run fails if that, or the share of the new
  // executor, does not happen in time.
  test(
    "a lost executor's shards are read while a batch uses every slot, a new one gets shards, and no record is lost"
  ) {
    val outcome = ExecutorKill.run(folder(), records = 20000, shards = 8, kills = 1, seed = 5)
    assert(outcome.verdict.faults == Nil, outcome.json)
    assert(outcome.verdict.rows == 20000L)
  }
}
