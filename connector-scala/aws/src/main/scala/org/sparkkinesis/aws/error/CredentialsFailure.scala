package org.sparkkinesis.aws.error

import software.amazon.awssdk.awscore.exception.AwsServiceException
import software.amazon.awssdk.services.sts.model.StsException

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.service.ServiceErrorKind.{AccessDenied, Client, InvalidArgument, NoCredentials}
import org.sparkkinesis.service.{IdentityErrors, Operation, ServiceErrorKind, ServiceException}

/**
 * The credentials of a call could not be resolved, so the call was not sent.
 *
 * @param isOfSts
 *   whether the Security Token Service refused to give credentials
 */
final private[aws] class CredentialsFailure private (
    kind: ServiceErrorKind,
    isOfSts: Boolean,
    code: String,
    text: String,
    requestId: Option[String],
    cause: Throwable
) extends RuntimeException(text, cause) {

  /** Returns the failure of the call. A refusal by the Security Token Service names its own operation. */
  def of(operation: Operation): ServiceException =
    new ServiceException(kind, if (isOfSts) Operation.AssumeRole else operation, code, text, requestId, this)
}

private[aws] object CredentialsFailure {

  /**
   * Returns the failure for what a source of credentials threw. A source that is busy, silent or cannot be reached may
   * give credentials later. A refusal by the Security Token Service is final, and so is a class of the user that
   * returns no credentials.
   */
  def of(failure: Throwable): CredentialsFailure = Futures.unwrap(failure) match {
    case known: CredentialsFailure => known
    case refused: AwsServiceException =>
      val code = Option(refused.awsErrorDetails).flatMap(details => Option(details.errorCode))
        .getOrElse(refused.getClass.getSimpleName)
      val text = Option(refused.awsErrorDetails).flatMap(details => Option(details.errorMessage))
        .getOrElse(String.valueOf(refused.getMessage))
      val kind = ErrorClassification.ofCode(code, refused.statusCode) match {
        case _ if OfIdentityProvider(code) => NoCredentials
        case last @ (AccessDenied | InvalidArgument) => last
        case _ => NoCredentials
      }
      new CredentialsFailure(
        kind,
        refused.isInstanceOf[StsException],
        code,
        text,
        Option(refused.requestId),
        refused
      )
    case wrong: KinesisConnectorException =>
      new CredentialsFailure(Client, false, IdentityErrors.InvalidSource, wrong.getMessage, None, wrong)
    case other =>
      new CredentialsFailure(
        NoCredentials,
        false,
        other.getClass.getSimpleName,
        Option(other.getMessage).getOrElse("no message"),
        None,
        other
      )
  }

  /** Codes for a web identity token or its issuer, which a new token or a later call can avoid. */
  private val OfIdentityProvider =
    Set(
      "IDPCommunicationError",
      "IDPCommunicationErrorException",
      "InvalidIdentityToken",
      "InvalidIdentityTokenException"
    )
}
