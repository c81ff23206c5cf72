package org.sparkkinesis.chaos.realtime

import scala.concurrent.duration._

import org.sparkkinesis.chaos.TemporaryFolder
import org.sparkkinesis.suite.TimedSuite

/** The short form of [[RealTimeSlowSink]]; the long one is `tests/chaos/run real-time-slow-sink`. */
class RealTimeSlowSinkSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 10.minutes

  Seq("polling", "efo").foreach { mode =>
    test(s"a slow sink does not fill the memory, and the query catches up exactly: $mode") {
      val outcome = RealTimeSlowSink.run(folder(), seconds = 8, rate = 150, batchSeconds = 2, mode)
      assert(outcome.verdict.faultCount == 0, outcome.json)
      assert(outcome.isHeldBack && outcome.keepsBuffer, outcome.json)
    }
  }
}
