package org.sparkkinesis.chaos.realtime

import scala.concurrent.duration._

import org.sparkkinesis.chaos.TemporaryFolder
import org.sparkkinesis.suite.TimedSuite

/** The short form of [[RealTimeBoundaries]]; the long one is `tests/chaos/run real-time-boundaries`. */
class RealTimeBoundariesSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 10.minutes

  Seq("polling", "efo").foreach { mode =>
    test(s"every record is handed over once and in order over many batches, with splits and merges: $mode") {
      val outcome = RealTimeBoundaries.run(folder(), batches = 30, 1000, 500, reshards = 6, mode, seed = 9)
      assert(outcome.verdict.faultCount == 0, outcome.json)
      assert(outcome.keepsSubscriptions, outcome.json)
      assert(outcome.reshards > 0 && outcome.verdict.batches > 1, outcome.json)
    }
  }
}
