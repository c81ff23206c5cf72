package org.sparkkinesis.service

import org.sparkkinesis.secret.Redaction

/** Classification of a failed call. Each operation decides which kinds are recoverable. */
sealed abstract class ServiceErrorKind(val name: String) extends Serializable {
  override def toString: String = name
}

object ServiceErrorKind {
  lazy val all: Seq[ServiceErrorKind] = Seq(
    Throttled,
    LimitExceeded,
    ResourceInUse,
    ResourceNotFound,
    ExpiredIterator,
    ExpiredNextToken,
    InvalidArgument,
    AccessDenied,
    Encryption,
    Internal,
    Network,
    Client,
    NoCredentials,
    StaleIdentity,
    KeyUnavailable,
    ForeignAnswer
  )

  /** ProvisionedThroughputExceeded, Throttling, KMSThrottling: the data plane throttles the caller. */
  case object Throttled extends ServiceErrorKind("Throttled")

  /** LimitExceeded: too many control-plane calls, or too many resources. */
  case object LimitExceeded extends ServiceErrorKind("LimitExceeded")
  case object ResourceInUse extends ServiceErrorKind("ResourceInUse")
  case object ResourceNotFound extends ServiceErrorKind("ResourceNotFound")
  case object ExpiredIterator extends ServiceErrorKind("ExpiredIterator")
  case object ExpiredNextToken extends ServiceErrorKind("ExpiredNextToken")

  /** InvalidArgument, Validation, Serialization: the request is invalid. */
  case object InvalidArgument extends ServiceErrorKind("InvalidArgument")

  /** AccessDenied, and errors about the caller's identity or signature that no later call can avoid. */
  case object AccessDenied extends ServiceErrorKind("AccessDenied")

  /** KMS errors that last: there is no such key, or the account cannot use KMS. */
  case object Encryption extends ServiceErrorKind("Encryption")

  /** 500, 502, 503, 504, InternalFailure. */
  case object Internal extends ServiceErrorKind("Internal")

  /**
   * The call got no response: DNS failure, timeout of connection, read or pool, or a reset connection. The request may
   * have taken effect.
   */
  case object Network extends ServiceErrorKind("Network")

  /**
   * The client detected the error before it sent anything, for example missing credentials or invalid configuration.
   */
  case object Client extends ServiceErrorKind("Client")

  /**
   * The answer is not one of the service: a redirect, a page, or another encoding than that of the request. The same
   * call gets the same answer again.
   */
  case object ForeignAnswer extends ServiceErrorKind("ForeignAnswer")

  /** The source of the credentials gives none at the moment, so nothing was sent. It may give some later. */
  case object NoCredentials extends ServiceErrorKind("NoCredentials")

  /**
   * The service refuses credentials that their source can replace, or a signature because of the machine's clock. A
   * later call may have other credentials or another time.
   */
  case object StaleIdentity extends ServiceErrorKind("StaleIdentity")

  /** KMS refuses the use of the stream's key in its current state, which may change while the query is running. */
  case object KeyUnavailable extends ServiceErrorKind("KeyUnavailable")

  /** Failures that can end without a change of the query and its options, although the service itself is sound. */
  val healing: Set[ServiceErrorKind] = Set(NoCredentials, StaleIdentity, KeyUnavailable)
}

/**
 * A failed call. The message contains no secret, also if the service's answer repeats one.
 *
 * @param operation
 *   the operation that failed
 * @param errorCode
 *   error code of the service, or class name of the exception if there was no response
 * @param wasNotDone
 *   whether it is certain that the service has not done what the call asked for, because it has not received the whole
 *   call, or because its answer says so
 */
final class ServiceException(
    val kind: ServiceErrorKind,
    val operation: Operation,
    val errorCode: String,
    answer: String,
    val requestId: Option[String] = None,
    cause: Throwable = null,
    val wasNotDone: Boolean = false
) extends RuntimeException(
      s"$operation: $errorCode: ${Redaction.text(answer)}${requestId.fold("")(id => s" (request $id)")}",
      Redaction.failure(cause)
    ) {

  /** What the service answered, or the client found. */
  val detail: String = Redaction.text(answer)

  /** Whether the service said so itself, and so was reached. */
  def isAnswer: Boolean = !ServiceException.Unsent(kind)

  /** Whether the service may have done what the call asked for, although the call has failed. */
  def mayBeDone: Boolean =
    !wasNotDone && (kind == ServiceErrorKind.Network || kind == ServiceErrorKind.Internal)

  /** Whether the call was refused only because there were too many calls, so that it succeeds when there are fewer. */
  def isThrottling: Boolean = kind == ServiceErrorKind.Throttled ||
    (kind == ServiceErrorKind.LimitExceeded && ServiceException.limitedByRate(operation))
}

object ServiceException {
  private val Unsent: Set[ServiceErrorKind] =
    Set(
      ServiceErrorKind.Network,
      ServiceErrorKind.Client,
      ServiceErrorKind.NoCredentials,
      ServiceErrorKind.ForeignAnswer
    )

  /** Operations for which LimitExceeded always means a rate, and never a number of streams or consumers. */
  private lazy val limitedByRate: Set[Operation] = Set(
    Operation.ListShards,
    Operation.ListStreams,
    Operation.DescribeStreamSummary,
    Operation.DescribeStreamConsumer,
    Operation.ListStreamConsumers
  )

  /** The error code of the service for a stream, consumer or shard that does not exist. */
  val ResourceNotFoundCode: String = "ResourceNotFoundException"

  /** Returns the error for a failure that is not a failed call, such as a fault of the connector. */
  def unexpected(operation: Operation, failure: Throwable): ServiceException = new ServiceException(
    ServiceErrorKind.Client,
    operation,
    failure.getClass.getName,
    String.valueOf(failure.getMessage),
    None,
    failure
  )
}
