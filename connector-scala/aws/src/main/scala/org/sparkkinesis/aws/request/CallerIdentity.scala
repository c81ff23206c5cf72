package org.sparkkinesis.aws.request

import scala.concurrent.duration._

import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider}

import org.sparkkinesis.service.ServiceErrorKind.{AccessDenied, StaleIdentity}
import org.sparkkinesis.service.{IdentityErrors, Operation, ServiceException}

/** Credentials of one client that can be resolved again. Thread-safe. */
private[aws] trait RenewableCredentials extends IdentityProvider[AwsCredentialsIdentity] with AutoCloseable {

  /** Number of renewals. A call that began before the last one may have other credentials than the next call. */
  def renewals: Int

  /**
   * Returns whether the source may give other credentials than those that were refused.
   *
   * @param isOfSts
   *   whether the Security Token Service refused the credentials with which a role is assumed
   */
  def canChange(isOfSts: Boolean): Boolean

  /**
   * Drops credentials that were refused, unless they were dropped after a call had begun. Returns whether the next call
   * gets credentials that were resolved after that.
   *
   * @param seen
   *   number of renewals when the refused call began
   */
  def renew(seen: Int): Boolean

  /** ID of the access key that was resolved last; empty if there is none. */
  def accessKeyId: String
}

/**
 * The identity of the calls of one client: credentials, and the clock of signatures. Decides what a refusal of them
 * means. Thread-safe.
 *
 * It compares what a refused call had when it began with what the next call gets, and consumes nothing: of several
 * calls that are refused for one reason, each gets the same judgement.
 *
 * @param nanoTime
 *   a clock for durations
 */
final private[aws] class CallerIdentity(
    val credentials: RenewableCredentials,
    val clock: SigningClock,
    nanoTime: () => Long = () => System.nanoTime
) {
  import CallerIdentity._

  private var unknown = Option.empty[UnknownKey]

  /** Notes with what a call begins. */
  def begin(): Begun = Begun(credentials.renewals, clock.corrections)

  /** Judges the failure of a call. */
  def judge(error: ServiceException, begun: Begun): Judgement = IdentityErrors.causeOf(error) match {
    case None => Judgement(error, mayRepeat = false)
    case Some(IdentityErrors.Time) => Judgement(stale(error), isCorrected(begun))
    case Some(_) if error.kind != AccessDenied => Judgement(error, mayRepeat = false)
    case Some(IdentityErrors.Signature) if isCorrected(begun) => Judgement(stale(error), mayRepeat = true)
    case Some(cause) =>
      val canChange = credentials.canChange(error.operation == Operation.AssumeRole)
      val isTemporary = canChange && (cause == IdentityErrors.Expired || isNew(credentials.accessKeyId))
      if (isTemporary) Judgement(stale(error), credentials.renew(begun.renewals))
      else Judgement(error, mayRepeat = false)
  }

  private def isCorrected(begun: Begun): Boolean = clock.corrections != begun.corrections

  /** Whether the key has been refused for less than [[KeyPatience]], without a pause of that length. */
  private def isNew(accessKeyId: String): Boolean = synchronized {
    val now = nanoTime()
    val since = unknown
      .filter(known => known.accessKeyId == accessKeyId && now - known.lastNanos <= KeyPatience.toNanos)
      .fold(now)(_.sinceNanos)
    unknown = Some(UnknownKey(accessKeyId, since, now))
    now - since < KeyPatience.toNanos
  }
}

private[aws] object CallerIdentity {

  /** State of the identity when a call began. */
  final case class Begun(renewals: Int, corrections: Int)

  /**
   * @param error
   *   the failure of the call, as a temporary one if another call may succeed
   * @param mayRepeat
   *   whether the same call may succeed at once
   */
  final case class Judgement(error: ServiceException, mayRepeat: Boolean)

  /**
   * How long a key that the service does not know, or a wrong secret, counts as a temporary failure if the source may
   * give another: new keys reach all of the service with a delay, and old ones may end before their source is renewed.
   */
  val KeyPatience: FiniteDuration = 1.minute

  final private case class UnknownKey(accessKeyId: String, sinceNanos: Long, lastNanos: Long)

  private def stale(error: ServiceException): ServiceException =
    new ServiceException(StaleIdentity, error.operation, error.errorCode, error.detail, error.requestId, error)
}
