package org.sparkkinesis.spark.connection

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors, ServiceErrors}
import org.sparkkinesis.event.DataLost
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}

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
      case ServiceErrorKind.AccessDenied =>
        ServiceErrors.accessDenied(
          operation = operation,
          permission = error.operation.permission,
          stream = stream,
          serviceMessage = said
        )
      case ServiceErrorKind.Client if said.toLowerCase.contains("credential") =>
        ServiceErrors.credentialsFailed(stream = stream, reason = said)
      case ServiceErrorKind.Network | ServiceErrorKind.Client =>
        ServiceErrors.endpointUnreachable(where = where, operation = operation, stream = stream, reason = said)
      case _ =>
        ServiceErrors.failed(
          operation = operation,
          stream = stream,
          serviceMessage = said,
          fix = "Correct what the service's message names, then restart the query from its checkpoint."
        )
    }
    explained.causedBy(error)
  }

  /** Returns the error for a shard that no longer exists and was not read to its end. */
  def shardGone(shard: ShardId, stream: String, error: ServiceException): KinesisConnectorException =
    ReadErrors.dataLoss(
      shard = shard.value,
      stream = stream,
      reason = DataLost.ShardIsGone,
      cause = s"The service removes a closed shard when its last record expires. Service message: ${error.detail}"
    ).causedBy(error)
}
