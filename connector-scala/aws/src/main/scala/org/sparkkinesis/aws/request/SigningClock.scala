package org.sparkkinesis.aws.request

import java.time.format.DateTimeFormatter
import java.time.{Clock, Duration, Instant, ZonedDateTime}

import scala.util.Try

import software.amazon.awssdk.http.SdkHttpResponse

import org.sparkkinesis.service.ServiceException

/**
 * The clock of signatures. The service refuses a signature whose time differs from its own time by more than five
 * minutes. After such a refusal, this clock follows the service's clock, as the clock of the SDK's client does.
 * Thread-safe.
 */
final private[aws] class SigningClock(machine: Clock) {
  import SigningClock._

  @volatile private var clock = machine
  @volatile private var noted = Option.empty[Difference]

  /** The clock of the next signature. */
  def current: Clock = clock

  /** Notes the service's time in a response that refuses a request, if it differs from that of the signature. */
  private[request] def answered(response: SdkHttpResponse): Unit =
    if (response.statusCode / 100 == 4) dateOf(response).foreach { time =>
      if (Duration.between(clock.instant, time).abs.compareTo(Tolerance) > 0)
        noted = Some(Difference(Duration.between(machine.instant, time), machine.instant))
    }

  /** Whether a call that failed with this error may succeed now, because the clock follows the service's clock. */
  def mayDifferAfter(error: ServiceException): Boolean =
    Refusals(error.errorCode) && noted.filter(_.isRecent(machine.instant)).exists { difference =>
      clock = Clock.offset(machine, difference.toService)
      true
    }
}

private[aws] object SigningClock {

  /** The `Date` header, in whole seconds, or nothing if a response has none that can be read. */
  def dateOf(response: SdkHttpResponse): Option[Instant] =
    ErrorAnswer.header(response, "Date")
      .flatMap(date => Try(ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant).toOption)

  /** Error codes of signatures that may be too old or too new. A wrong secret has some of them, too. */
  private val Refusals = Set(
    "AuthFailure",
    "InvalidSignatureException",
    "RequestExpired",
    "RequestInTheFuture",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch"
  )

  /** Below the service's limit of five minutes, as in the SDK's client. */
  private val Tolerance = Duration.ofMinutes(4)

  /** Bounds the time in which calls with a wrong secret are repeated because the clock was wrong, too. */
  private val Recent = Duration.ofMinutes(1)

  final private case class Difference(toService: Duration, notedAt: Instant) {
    def isRecent(now: Instant): Boolean = Duration.between(notedAt, now).abs.compareTo(Recent) < 0
  }
}
