package org.sparkkinesis.chaos.realtime

import scala.concurrent.duration._

import org.sparkkinesis.chaos.TemporaryFolder
import org.sparkkinesis.suite.TimedSuite

/** The short form of [[RealTimeShards]]; the long one is `tests/chaos/run real-time-shards`. */
class RealTimeShardsSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 10.minutes

  Seq("polling", "efo").foreach { mode =>
    test(s"four tasks hand over the records of many shards once and in order: $mode") {
      val outcome = RealTimeShards.run(folder(), shards = 40, tasks = 4, seconds = 5, batchSeconds = 2, mode)
      assert(outcome.verdict.faultCount == 0 && outcome.verdict.rows == 200, outcome.json)
      assert(outcome.tasks == 4 && outcome.sortedMillis.size == 200, outcome.json)
    }
  }
}
