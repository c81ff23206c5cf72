package org.sparkkinesis.consume.fanout

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.suite.TimedSuite

class EventTimesSuite extends TimedSuite {
  private val start = 1_700_000_000_000L

  /** Returns the times of a subscription that was just requested, and their clock. */
  private def opened(): (VirtualScheduler, EventTimes) = {
    val clock = new VirtualScheduler(start)
    val times = new EventTimes(clock)
    times.opened()
    (clock, times)
  }

  /** Returns the times of events in milliseconds since the subscription, each after a wait since the event before. */
  private def times(waits: FiniteDuration*): Seq[Long] = {
    val (clock, times) = opened()
    waits.map { wait =>
      clock.advance(wait)
      times.received() - start
    }
  }

  test("an event that was awaited for a while was sent when it is received") {
    assert(times(1.second, 5.seconds, 10.seconds) == Seq(1000, 6000, 16000))
  }

  test("an event that comes at once may have waited in a buffer since the event before it, or the request") {
    assert(times(20.millis, 999.millis, Duration.Zero, 5.seconds, 1.milli) == Seq(0, 0, 0, 6019, 6019))
  }

  test("an event after a long wait, and those after it, may have arrived while the process stood still") {
    assert(times(5.seconds, 60.seconds, 1.milli, 1.milli, 5.seconds) == Seq(5000, 5000, 5000, 5000, 70002))
  }

  test("an event may have waited since it was not awaited") {
    val (clock, times) = opened()
    clock.advance(5.seconds)
    times.received()
    clock.advance(4.minutes)
    times.awaited()
    clock.advance(2.seconds)
    assert(times.received() == start + 5000, "it may have been in a buffer for minutes, and was handled late")
    clock.advance(2.seconds)
    assert(times.received() == start + 249000)
  }

  test("after a pause, an event says nothing if the one before it may have waited in a buffer") {
    assert(times(5.seconds, 1.milli, 60.seconds, 60.seconds) == Seq(5000, 5000, 5000, 65001))
  }

  test("an event during which the clock was set forward counts from when it was awaited") {
    val (clock, times) = opened()
    clock.suspend(1.hour)
    clock.advance(5.seconds)
    assert(times.received() == start)
  }

  test("the time of a subscription does not apply to the next one") {
    val (clock, times) = opened()
    clock.advance(1.minute)
    times.opened()
    assert(times.received() == start + 60000 && times.awaitedNanos == 60.seconds.toNanos)
  }
}
