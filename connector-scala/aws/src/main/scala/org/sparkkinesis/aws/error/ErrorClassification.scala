package org.sparkkinesis.aws.error

import java.io.IOException
import java.net.{ConnectException, NoRouteToHostException, UnknownHostException}
import java.nio.channels.ClosedChannelException
import java.util.concurrent.{CancellationException, TimeoutException}
import javax.net.ssl.SSLHandshakeException

import software.amazon.awssdk.awscore.exception.AwsServiceException
import software.amazon.awssdk.core.exception.{
  AbortedException,
  ApiCallAttemptTimeoutException,
  ApiCallTimeoutException,
  SdkException
}

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.service.ServiceErrorKind._
import org.sparkkinesis.service.{KmsErrors, Operation, ServiceErrorKind, ServiceException}

/**
 * Translates failures of the AWS SDK to [[ServiceErrorKind]]: by the error code of the service, or by HTTP status, or
 * by the class of the exception.
 */
object ErrorClassification {

  def classify(operation: Operation, failure: Throwable): ServiceException = Futures.unwrap(failure) match {
    case unsent: UnsentCall => classify(operation, Futures.unwrap(unsent.reason), isUnsent = true)
    case sent => classify(operation, sent, isUnsent = causes(sent).exists(isUnconnected))
  }

  private def classify(operation: Operation, failure: Throwable, isUnsent: Boolean): ServiceException = failure match {
    case known: ServiceException => known
    case Foreign(answer) =>
      new ServiceException(ForeignAnswer, operation, statusCode(answer.status), answer.getMessage, None, answer)
    case error =>
      causes(error).collectFirst { case noCredentials: CredentialsFailure => noCredentials.of(operation) }
        .getOrElse(answered(operation, error, isUnsent))
  }

  private def answered(operation: Operation, failure: Throwable, isUnsent: Boolean): ServiceException = failure match {
    case error: AwsServiceException =>
      val details = Option(error.awsErrorDetails)
      val code = details.flatMap(d => Option(d.errorCode)).getOrElse(statusCode(error.statusCode))
      val text = details.flatMap(d => Option(d.errorMessage)).getOrElse(String.valueOf(error.getMessage))
      val kind = ofCode(code, error.statusCode)
      val isUndone = NotProcessed(error.statusCode)
      new ServiceException(kind, operation, code, text, Option(error.requestId), error, isUndone)
    case error =>
      new ServiceException(ofClass(error), operation, nameOf(error), messageOf(error), None, error, isUnsent)
  }

  /** Proxy Authentication Required, Request Timeout and Too Early: the service has not processed the request. */
  private val NotProcessed = Set(407, 408, 425)

  /** Whether there was no connection to send anything on. */
  private def isUnconnected(error: Throwable): Boolean = error match {
    case _: ConnectException | _: NoRouteToHostException | _: UnknownHostException | _: SSLHandshakeException => true
    case _ => false
  }

  /** @param status HTTP status; 0 for an error inside an event stream */
  def ofCode(code: String, status: Int): ServiceErrorKind =
    Codes.getOrElse(
      code,
      if (code.startsWith("KMS")) KmsErrors.kindOf(code)
      else if (status == 429) Throttled
      // A proxy wants another user, and the service has not seen the call.
      else if (status == 407) Network
      else if (status >= 500) Internal
      else if (status == 401 || status == 403) AccessDenied
      // Request Timeout and Too Early: the request was not processed.
      else if (status == 408 || status == 425) Internal
      else if (status / 100 == 3) ForeignAnswer
      else if (status >= 400) InvalidArgument
      else Internal
    )

  private object Foreign {
    def unapply(failure: Throwable): Option[ForeignAnswerException] =
      causes(failure).flatMap(cause => cause +: cause.getSuppressed.toSeq)
        .collectFirst { case answer: ForeignAnswerException => answer }
  }

  /** Error code of an answer in which the service names none. */
  def statusCode(status: Int): String = s"$StatusPrefix$status"

  /** Whether the answer of this error has no error code of the service. */
  def hasNoCode(error: ServiceException): Boolean = error.errorCode.startsWith(StatusPrefix)

  private val StatusPrefix = "HTTP "

  private val Codes: Map[String, ServiceErrorKind] = Map(
    "ProvisionedThroughputExceededException" -> Throttled,
    "ThrottlingException" -> Throttled,
    "Throttling" -> Throttled,
    "ThrottledException" -> Throttled,
    "RequestLimitExceeded" -> Throttled,
    "TooManyRequestsException" -> Throttled,
    "SlowDown" -> Throttled,
    "KMSThrottlingException" -> Throttled,
    "LimitExceededException" -> LimitExceeded,
    "ResourceInUseException" -> ResourceInUse,
    ServiceException.ResourceNotFoundCode -> ResourceNotFound,
    "ExpiredIteratorException" -> ExpiredIterator,
    "ExpiredNextTokenException" -> ExpiredNextToken,
    "InvalidArgumentException" -> InvalidArgument,
    "ValidationException" -> InvalidArgument,
    "ValidationError" -> InvalidArgument,
    "SerializationException" -> InvalidArgument,
    "UnknownOperationException" -> InvalidArgument,
    "AccessDeniedException" -> AccessDenied,
    "AccessDenied" -> AccessDenied,
    "UnrecognizedClientException" -> AccessDenied,
    "InvalidSignatureException" -> AccessDenied,
    "SignatureDoesNotMatch" -> AccessDenied,
    "MissingAuthenticationTokenException" -> AccessDenied,
    "MissingAuthenticationToken" -> AccessDenied,
    "IncompleteSignatureException" -> AccessDenied,
    "IncompleteSignature" -> AccessDenied,
    "InvalidClientTokenId" -> AccessDenied,
    "ExpiredTokenException" -> AccessDenied,
    "ExpiredToken" -> AccessDenied,
    "RequestExpired" -> AccessDenied,
    "OptInRequired" -> AccessDenied,
    "NotAuthorized" -> AccessDenied,
    "InternalFailureException" -> Internal,
    "InternalFailure" -> Internal,
    "InternalServerError" -> Internal,
    "InternalServerException" -> Internal,
    "InternalServiceError" -> Internal,
    "ServiceUnavailableException" -> Internal,
    "ServiceUnavailable" -> Internal,
    "RequestTimeout" -> Network,
    "RequestTimeoutException" -> Network
  )

  private def ofClass(error: Throwable): ServiceErrorKind = error match {
    case _: ApiCallTimeoutException | _: ApiCallAttemptTimeoutException | _: AbortedException => Network
    case _: TimeoutException | _: CancellationException => Network
    case _ if causes(error).exists(isLostConnection) => Network
    case _ => Client
  }

  /**
   * The SDK wraps the exceptions of its HTTP client at various depths. Netty's exceptions are recognized by their class
   * names.
   */
  private def isLostConnection(error: Throwable): Boolean = error match {
    // A retry does not help with a wrong certificate. A handshake without an answer is a lost connection.
    case handshake: SSLHandshakeException => handshake.getClass.getSimpleName.endsWith("TimeoutException")
    case _: IOException | _: ClosedChannelException | _: TimeoutException => true
    case other =>
      val name = other.getClass.getSimpleName
      name.endsWith("TimeoutException") || name == "Http2Exception" || name == "StreamException"
  }

  private def causes(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(16)

  /** Netty's client of the SDK wraps some exceptions in a Throwable without a class of its own. */
  private def nameOf(error: Throwable): String =
    causes(error).find(_.getClass != classOf[Throwable]).getOrElse(error).getClass.getSimpleName

  private def messageOf(error: Throwable): String = error match {
    case known: KinesisConnectorException => known.getMessage
    case sdk: SdkException => String.valueOf(sdk.getMessage)
    case other => Option(other.getMessage).getOrElse("no message")
  }
}
