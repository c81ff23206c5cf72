package org.sparkkinesis.spark.connection

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.service.{IamResource, IdentityErrors, Operation, ServiceErrorKind, ServiceException}

/** Turns a failed service call into an error that a user can act on: problem, cause and fix. */
object ServiceFailure {

  def explain(error: ServiceException, stream: String, settings: ClientSettings): KinesisConnectorException = {
    Futures.interruptOf(error).foreach(throw _)
    val where = settings.endpoint.orElse(settings.region).getOrElse("the default endpoint")
    val operation = error.operation.name
    val said = error.getMessage
    val explained = error.kind match {
      case ServiceErrorKind.ResourceNotFound =>
        ServiceErrors.streamNotFound(stream = stream, where = where, serviceMessage = said)
      case ServiceErrorKind.NoCredentials => ServiceErrors.credentialsFailed(stream = stream, reason = said)
      case ServiceErrorKind.Client if error.errorCode == IdentityErrors.InvalidSource =>
        ServiceErrors.credentialsFailed(
          stream = stream,
          reason = error.detail,
          fix = "Correct the class that 'credentialsProvider' names."
        )
      case ServiceErrorKind.AccessDenied | ServiceErrorKind.StaleIdentity if IdentityErrors.causeOf(error).isDefined =>
        ServiceErrors.credentialsFailed(stream = stream, reason = said, fix = fixOf(IdentityErrors.causeOf(error)))
      case ServiceErrorKind.AccessDenied if error.operation == Operation.AssumeRole =>
        ServiceErrors.credentialsFailed(stream = stream, reason = said, fix = FixOfRole)
      case ServiceErrorKind.AccessDenied =>
        ServiceErrors.accessDenied(
          operation = operation,
          permission = error.operation.permission,
          resource = IamResource.of(error.operation).inErrors,
          stream = stream,
          serviceMessage = said
        )
      case ServiceErrorKind.ForeignAnswer =>
        ServiceErrors.notKinesis(where = where, operation = operation, stream = stream, reason = said)
      case ServiceErrorKind.Network | ServiceErrorKind.Client =>
        ServiceErrors.endpointUnreachable(where = where, operation = operation, stream = stream, reason = said)
      case ServiceErrorKind.KeyUnavailable | ServiceErrorKind.Encryption =>
        ServiceErrors.failed(operation = operation, stream = stream, serviceMessage = said, fix = FixOfKey)
      case _ =>
        val again = error.operation match {
          case _: Operation.Change => "run the statement again"
          case _ => "restart the query from its checkpoint"
        }
        ServiceErrors.failed(
          operation = operation,
          stream = stream,
          serviceMessage = said,
          fix = s"Correct what the service's message names, then $again."
        )
    }
    explained.causedBy(error)
  }

  private def fixOf(cause: Option[IdentityErrors.Cause]): String = cause match {
    case Some(IdentityErrors.Expired) =>
      "Use credentials that are renewed: 'roleArn', 'profile', 'credentialsProvider' or the AWS default chain; or " +
        "restart the query with a new 'sessionToken'."
    case Some(IdentityErrors.Time) =>
      "Correct the clock of the machine that makes the call, for example with NTP."
    case Some(IdentityErrors.Signature) =>
      "Check that the secret key belongs to the access key, and that no proxy changes requests."
    case _ =>
      "Check that the access key exists and is active, that the session token belongs to it, and that the endpoint " +
        "belongs to the same AWS partition."
  }

  private val FixOfRole =
    "Allow sts:AssumeRole on the role to the credentials that assume it, and name them in the role's trust policy. " +
      "Set 'roleExternalId' if the trust policy requires an external ID."

  private val FixOfKey =
    "Check that the KMS key of the stream exists and is enabled, and that its policy allows the caller kms:Decrypt " +
      "for reads and kms:GenerateDataKey for writes. Then restart the query from its checkpoint."
}
