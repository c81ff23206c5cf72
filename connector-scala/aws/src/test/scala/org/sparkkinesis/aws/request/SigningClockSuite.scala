package org.sparkkinesis.aws.request

import java.time.format.DateTimeFormatter
import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import software.amazon.awssdk.http.SdkHttpResponse

import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
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

    def isRepeated(code: String = "InvalidSignatureException"): Boolean =
      clock.mayDifferAfter(new ServiceException(ServiceErrorKind.AccessDenied, Operation.PutRecords, code, "no"))

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
      assert(rig.difference.isZero)
      assert(rig.isRepeated() == follows)
      assert(rig.difference == (if (follows) toService else Duration.ZERO))
    }
  }

  test("only a refused signature moves the clock") {
    val rig = new Rig
    rig.hears(Duration.ofHours(1))
    Seq("ResourceNotFoundException", "AccessDeniedException", "ExpiredTokenException").foreach { code =>
      assert(!rig.isRepeated(code), code)
    }
    assert(rig.difference.isZero)
    assert(rig.isRepeated("RequestExpired"))
  }

  test("a response that is not a refusal, or that has no time, does not move the clock") {
    val rig = new Rig
    Seq(200, 500, 503).foreach(rig.hears(Rig.date(start.plusSeconds(3600)), _))
    rig.hears("yesterday")
    rig.clock.answered(SdkHttpResponse.builder().statusCode(403).build())
    assert(!rig.isRepeated())
  }

  test("calls in flight at the same time are all repeated, and those with a wrong secret only for a minute") {
    val rig = new Rig
    rig.hears(Duration.ofHours(1))
    assert((1 to 3).forall(_ => rig.isRepeated()))
    rig.machine.now = start.plusSeconds(61)
    rig.hears(Duration.ofHours(1))
    assert(!rig.isRepeated())
    assert(rig.difference == Duration.ofHours(1))
  }

  test("the clock follows again when the clock of the machine is corrected") {
    val rig = new Rig
    rig.hears(Duration.ofHours(1))
    assert(rig.isRepeated())
    rig.machine.now = start.plusSeconds(3600)
    rig.hears(Duration.ZERO)
    assert(rig.isRepeated())
    assert(rig.difference.isZero)
  }
}
