package org.sparkkinesis.spark.connection

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}

/** Makes of a failed call what a user can act on: problem, cause, fix. */
object ServiceFailure {

  def explain(error: ServiceException, stream: String, settings: ClientSettings): KinesisConnectorException = {
    val where = settings.endpoint.orElse(settings.region).getOrElse("the default endpoint")
    val operation = error.operation.name
    val said = error.getMessage
    val explained = error.kind match {
      case ServiceErrorKind.ResourceNotFound =>
        ServiceErrors.streamNotFound(stream = stream, where = where, serviceMessage = said)
      case ServiceErrorKind.AccessDenied =>
        ServiceErrors.accessDenied(operation = operation, stream = stream, serviceMessage = said)
      case ServiceErrorKind.Client if said.toLowerCase.contains("credential") =>
        ServiceErrors.credentialsFailed(stream = stream, reason = said)
      case ServiceErrorKind.Network | ServiceErrorKind.Client =>
        ServiceErrors.endpointUnreachable(where = where, operation = operation, stream = stream, reason = said)
      case _ =>
        ServiceErrors.failed(
          operation = operation,
          stream = stream,
          serviceMessage = said,
          fix = "Mend what the service's message names, then start the query again: the checkpoint is kept."
        )
    }
    explained.causedBy(error)
  }
}
