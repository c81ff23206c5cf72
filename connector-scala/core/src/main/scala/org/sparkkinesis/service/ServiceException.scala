package org.sparkkinesis.service

/** How a failed call is to be understood; the operations decide what they do about it. */
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
    Client
  )

  /** ProvisionedThroughputExceeded, Throttling, KMSThrottling: the data plane asks to slow down. */
  case object Throttled extends ServiceErrorKind("Throttled")

  /** LimitExceeded: too many control-plane calls, or too many of a thing. */
  case object LimitExceeded extends ServiceErrorKind("LimitExceeded")
  case object ResourceInUse extends ServiceErrorKind("ResourceInUse")
  case object ResourceNotFound extends ServiceErrorKind("ResourceNotFound")
  case object ExpiredIterator extends ServiceErrorKind("ExpiredIterator")
  case object ExpiredNextToken extends ServiceErrorKind("ExpiredNextToken")

  /** InvalidArgument, Validation, Serialization: the request itself is wrong. */
  case object InvalidArgument extends ServiceErrorKind("InvalidArgument")

  /** AccessDenied, and every error about the caller's identity or signature. */
  case object AccessDenied extends ServiceErrorKind("AccessDenied")

  /** KMS errors other than throttling. */
  case object Encryption extends ServiceErrorKind("Encryption")

  /** 500, 502, 503, 504, InternalFailure. */
  case object Internal extends ServiceErrorKind("Internal")

  /** The call got no answer: name not resolved, connect, read, acquire timeout, connection reset. What it asked for may have happened. */
  case object Network extends ServiceErrorKind("Network")

  /** Found by the client before anything was sent: no credentials, bad configuration. */
  case object Client extends ServiceErrorKind("Client")
}

/**
 * A failed call. The message holds no secret.
 *
 * @param operation
 *   what was called
 * @param errorCode
 *   the service's name of the error, or the exception's class where there was no answer
 */
final class ServiceException(
    val kind: ServiceErrorKind,
    val operation: Operation,
    val errorCode: String,
    val detail: String,
    val requestId: Option[String] = None,
    cause: Throwable = null
) extends RuntimeException(s"$operation: $errorCode: $detail${requestId.fold("")(id => s" (request $id)")}", cause)
