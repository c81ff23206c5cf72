package org.sparkkinesis.aws.request

import java.time.format.DateTimeFormatter
import java.time.{Clock, Duration, Instant, ZoneId, ZonedDateTime}

import scala.util.Try

import software.amazon.awssdk.core.SelectedAuthScheme
import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttributes,
  ExecutionInterceptor,
  SdkInternalExecutionAttribute
}
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner
import software.amazon.awssdk.identity.spi.Identity

import org.sparkkinesis.aws.transport.AnswerHead

/**
 * The clock of the signatures of one client. The service refuses a signature whose time differs from its own time by
 * more than five minutes. So each refusal, of every call, corrects this clock by its `Date` if they differ by more than
 * four minutes; a successful answer shows that they do not. Thread-safe.
 */
final private[aws] class SigningClock(machine: Clock) {
  import SigningClock._

  @volatile private var state = Correction(Duration.ZERO, 0)

  /** The clock of signatures. It shows each correction at once. */
  val current: Clock = new Clock {
    override def instant(): Instant = machine.instant.plus(state.toService)
    override def getZone: ZoneId = machine.getZone
    override def withZone(zone: ZoneId): Clock = Clock.offset(machine.withZone(zone), state.toService)
  }

  /** Number of corrections. A call that began before the last one may have been signed with another time. */
  def corrections: Int = state.number

  /** Corrects the clock by the service's time in an answer, if the answer has one. */
  def answered(response: SdkHttpResponse): Unit = dateOf(response).foreach(answered)

  /** Corrects the clock by the service's time in a refusal, if the refusal has one. */
  def answered(head: AnswerHead): Unit = if (!head.isSuccessful) head.header("Date").flatMap(parsed).foreach(answered)

  /** Corrects the clock by the service's time. */
  def answered(service: Instant): Unit =
    if (isWrong(service)) synchronized {
      if (isWrong(service)) state = Correction(Duration.between(machine.instant, service), state.number + 1)
    }

  private def isWrong(service: Instant): Boolean =
    Duration.between(current.instant, service).abs.compareTo(Tolerance) > 0

  /** Signs the calls of an SDK client with this clock, and corrects the clock by their answers. */
  val interceptor: ExecutionInterceptor = new ExecutionInterceptor {
    override def afterMarshalling(context: Context.AfterMarshalling, attributes: ExecutionAttributes): Unit =
      Option(attributes.getAttribute(SdkInternalExecutionAttribute.SELECTED_AUTH_SCHEME)).foreach(withClock(
        attributes,
        _
      ))
    private def withClock[T <: Identity](attributes: ExecutionAttributes, scheme: SelectedAuthScheme[T]): Unit = {
      val option = scheme.authSchemeOption.toBuilder.putSignerProperty(HttpSigner.SIGNING_CLOCK, current).build()
      attributes.putAttribute(
        SdkInternalExecutionAttribute.SELECTED_AUTH_SCHEME,
        new SelectedAuthScheme(scheme.identity, scheme.signer, option)
      )
      ()
    }
    override def afterTransmission(context: Context.AfterTransmission, attributes: ExecutionAttributes): Unit =
      answered(context.httpResponse)
  }
}

private[aws] object SigningClock {

  /** The `Date` header, in whole seconds, or nothing if a response has none that can be read. */
  def dateOf(response: SdkHttpResponse): Option[Instant] =
    ErrorAnswer.header(response, "Date").flatMap(parsed)

  private def parsed(date: String): Option[Instant] =
    Try(ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant).toOption

  /** Below the service's limit of five minutes, as in the SDK's client. */
  private val Tolerance = Duration.ofMinutes(4)

  final private case class Correction(toService: Duration, number: Int)
}
