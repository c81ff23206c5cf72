package org.sparkkinesis.spark.connection

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.suite.TimedSuite

class ServiceClockSuite extends TimedSuite {
  private val Start = 1_700_000_000_000L

  /** A service whose clock differs by `skew` and whose answers take 40 ms in each direction. */
  private def heard(skewMillis: Long): (VirtualScheduler, ServiceClock) = {
    val own = new VirtualScheduler(Start)
    val clock = new ServiceClock(own)
    ask(own, clock, skewMillis)
    (own, clock)
  }

  private def ask(own: VirtualScheduler, clock: ServiceClock, skewMillis: Long): Unit = {
    val asked = clock.now
    own.advance(40.millis)
    val answered = (own.currentMillis + skewMillis) / 1000 * 1000
    own.advance(40.millis)
    clock.heard(answered, asked)
  }

  test("before the first answer it is the process's own clock") {
    val clock = new ServiceClock(new VirtualScheduler(Start))
    assert((clock.atLeast, clock.atMost) == ((Start, Start)))
  }

  Seq(0L, 60_000L, -60_000L, 1_234_567L, -999L).foreach { skew =>
    test(s"a clock that differs by $skew ms is within close bounds") {
      val (own, clock) = heard(skew)
      own.advance(1.hour)
      val truth = own.currentMillis + skew
      assert(clock.atLeast <= truth && truth <= clock.atMost)
      assert(clock.atMost - clock.atLeast <= 1082)
    }
  }

  test("a second answer narrows the bounds") {
    val (own, clock) = heard(300)
    own.advance(500.millis)
    ask(own, clock, 300)
    val truth = own.currentMillis + 300
    assert(clock.atLeast <= truth && truth <= clock.atMost)
    assert(clock.atMost - clock.atLeast < 1082)
  }

  test("an answer that contradicts earlier answers replaces them") {
    val (own, clock) = heard(0)
    ask(own, clock, 60_000)
    val truth = own.currentMillis + 60_000
    assert(clock.atLeast <= truth && truth <= clock.atMost)
  }

  test("after a suspension, only the latest possible time is not too early, until the service answers again") {
    Seq(0L, 60_000L, -60_000L).foreach { skew =>
      val (own, clock) = heard(skew)
      assert(clock.latestPossible - clock.atMost <= 1, "no difference before")
      own.suspend(17.hours)
      def truth = own.currentMillis + skew
      assert(clock.atMost < truth && clock.atLeast <= truth, skew)
      assert(truth <= clock.latestPossible && clock.latestPossible - truth <= 1082, skew)
      ask(own, clock, skew)
      assert(truth <= clock.atMost && clock.atMost - truth <= 1082 && truth - clock.atLeast <= 1082, skew)
    }
  }

  test("the bounds include the service's time if the machine was suspended while an answer was on its way") {
    Seq(true, false).foreach { isAnsweredBefore =>
      val (own, clock) = heard(300)
      val asked = clock.now
      if (!isAnsweredBefore) own.suspend(17.hours)
      val answered = (own.currentMillis + 300) / 1000 * 1000
      if (isAnsweredBefore) own.suspend(17.hours)
      own.advance(40.millis)
      clock.heard(answered, asked)
      val truth = own.currentMillis + 300
      assert(clock.atLeast <= truth && truth <= clock.atMost && truth <= clock.latestPossible, isAnsweredBefore)
    }
  }

  test("a time of the process's clock is converted, also after the machine was suspended") {
    Seq(0L, 60_000L, -60_000L).foreach { skew =>
      val (own, clock) = heard(skew)
      val (before, truth) = (own.currentMillis, own.currentMillis + skew)
      own.suspend(17.hours)
      Seq(before -> truth, own.currentMillis -> (truth + 17.hours.toMillis)).foreach { case (millis, expected) =>
        val found = clock.ofOwn(millis)
        assert(found <= expected && expected - found <= 1041, skew)
      }
    }
    assert(new ServiceClock(new VirtualScheduler(Start)).ofOwn(5) == 5, "before the first answer")
  }
}
