package org.sparkkinesis.emulator.engine.time

import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._

import org.scalactic.source

import org.sparkkinesis.emulator.engine.time.{EmulatorClock, Timers}
import org.sparkkinesis.suite.TimedSuite

class TimersSuite extends TimedSuite {
  private def testWithTimers(name: String)(body: ((EmulatorClock, Timers)) => Any)(implicit
      position: source.Position
  ): Unit = test(name) {
    val made = {
      val clock = EmulatorClock.manual(1777319237000L)
      (clock, new Timers(clock))
    }
    try body(made)
    finally made._2.close()
  }

  testWithTimers("all due tasks have run when `advance` returns, on whichever thread") {
    case (clock, timers) =>
      val done = new AtomicInteger
      (1 to 2000).foreach { i =>
        // Adding a task wakes the timers' own thread, which then competes with the thread that advances the clock.
        timers.after(1) { () => done.incrementAndGet(); () }
        clock.advance(1.milli)
        assert(done.get == i)
      }
  }

  testWithTimers("tasks run in the order of their times, and cancelled tasks do not run") { case (clock, timers) =>
    val ran = new StringBuffer
    timers.after(20) { () => ran.append("b"); () }
    timers.after(10) { () => ran.append("a"); () }
    timers.after(15) { () => ran.append("x"); () }.cancel()
    timers.after(20) { () => ran.append("c"); () }
    clock.advance(20.millis)
    assert(ran.toString == "abc")
  }
}
