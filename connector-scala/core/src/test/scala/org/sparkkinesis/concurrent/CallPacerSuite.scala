package org.sparkkinesis.concurrent

import scala.concurrent.duration._

import org.sparkkinesis.suite.TimedSuite

class CallPacerSuite extends TimedSuite {
  test("calls of one key start a period apart, the first one at once, and other keys do not wait") {
    val pacer = new CallPacer[String](100.millis)
    assert(Seq.fill(3)(pacer.reserve("a", 0)) == Seq(0.millis, 100.millis, 200.millis))
    assert(pacer.reserve("b", 0) == 0.millis)
    assert(pacer.reserve("a", 150.millis.toNanos) == 150.millis)
  }

  test("a key that nobody waits for is forgotten") {
    val pacer = new CallPacer[String](100.millis)
    pacer.reserve("a", 0)
    assert(pacer.reserve("b", 100.millis.toNanos) == 0.millis && pacer.size == 1)
  }
}
