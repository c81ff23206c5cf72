package org.sparkkinesis.aws.request

import java.time.format.DateTimeFormatter
import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import software.amazon.awssdk.http.SdkHttpResponse

import org.sparkkinesis.suite.TimedSuite

class SigningClockSuite extends TimedSuite {
  private val start = Instant.parse("2026-02-03T04:05:06Z")

  private class Machine(var now: Instant) extends Clock {
    override def instant(): Instant = now
    override def getZone: ZoneId = ZoneOffset.UTC
    override def withZone(zone: ZoneId): Clock = this
  }

  private class Rig {
    val machine = new Machine(start)
    val clock = new SigningClock(machine)

    def hears(date: String, status: Int = 403): Unit =
      clock.answered(SdkHttpResponse.builder().statusCode(status).putHeader("Date", date).build())

    def hears(fromMachine: Duration): Unit = hears(Rig.date(machine.now.plus(fromMachine)))

    def difference: Duration = Duration.between(machine.now, clock.current.instant)
  }
  private object Rig {
    def date(at: Instant): String = DateTimeFormatter.RFC_1123_DATE_TIME.format(at.atOffset(ZoneOffset.UTC))
  }

  Seq(
    (Duration.ofHours(2), true),
    (Duration.ofHours(-2), true),
    (Duration.ofSeconds(241), true),
    (Duration.ofSeconds(239), false),
    (Duration.ZERO, false)
  ).foreach { case (toService, follows) =>
    test(s"the clock ${if (follows) "follows" else "does not follow"} a service whose clock differs by $toService") {
      val rig = new Rig
      rig.hears(toService)
      assert(rig.difference == (if (follows) toService else Duration.ZERO))
      assert(rig.clock.corrections == (if (follows) 1 else 0))
    }
  }

  test("every answer corrects the clock, whatever its status is") {
    Seq(200, 400, 403, 500, 503).foreach { status =>
      val rig = new Rig
      rig.hears(Rig.date(start.plusSeconds(3600)), status)
      assert(rig.difference == Duration.ofHours(1), status)
    }
  }

  test("an answer without a time that can be read changes nothing") {
    val rig = new Rig
    rig.hears("yesterday")
    rig.clock.answered(SdkHttpResponse.builder().statusCode(403).build())
    assert(rig.clock.corrections == 0)
  }

  test("answers that agree correct the clock once") {
    val rig = new Rig
    (1 to 3).foreach(_ => rig.hears(Duration.ofHours(1)))
    assert(rig.clock.corrections == 1)
  }

  test("the clock follows again when the clock of the machine is corrected") {
    val rig = new Rig
    rig.hears(Duration.ofHours(1))
    rig.machine.now = start.plusSeconds(3600)
    rig.hears(Duration.ZERO)
    assert(rig.difference.isZero)
    assert(rig.clock.corrections == 2)
  }
}
