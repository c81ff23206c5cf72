package org.sparkkinesis.chaos

import scala.concurrent.duration._

import org.sparkkinesis.chaos.writing.KeyOrder
import org.sparkkinesis.suite.TimedSuite

/** The short form of `tests/chaos/run key-order`. */
class KeyOrderSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 5.minutes

  test("no record overtakes one of its key in 8 tasks on 2 executors, with refused records and an outage") {
    val verdict = KeyOrder.run(folder(), rows = 20000, keys = 1000, tasks = 8)
    assert(verdict.ok, verdict.toString)
    assert(verdict.facts.toMap.apply("refusedRecords") > 10)
    assert(verdict.facts.toMap.apply("requestsInOutage") >= KeyOrder.RequestsInOutage)
  }
}
