package org.sparkkinesis.chaos.reading

import scala.concurrent.duration._

import org.sparkkinesis.chaos.TemporaryFolder
import org.sparkkinesis.chaos.reading.schedule.ChaosPlan
import org.sparkkinesis.suite.TimedSuite

/** The short form of [[ReadingChaos]], without a cluster; the long one is `tests/chaos/run reading`. */
class ReadingChaosSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 8.minutes

  Seq("polling" -> true, "efo" -> false).foreach { case (mode, quotas) =>
    val within = if (quotas) ", within the service's quotas" else ""
    test(s"every record once and in order, through resharding, faults and kills: $mode$within") {
      val outcome =
        ReadingChaos.run(folder(), ChaosPlan(15.seconds, seed = 5, mode, executors = 0, rate = 1000, quotas))
      assert(outcome.verdict.faults == Nil, outcome.json)
      assert(outcome.verdict.rows == outcome.records)
      assert(outcome.events.size >= 3, outcome.json)
    }
  }
}
