package org.sparkkinesis.spark.connection

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}

/** Makes of a failed call what a user can act on: problem, cause, fix. */
object ServiceFailure {

  def explain(error: ServiceException, stream: String, settings: ClientSettings): KinesisConnectorException = {
    val where = settings.endpoint.orElse(settings.region).getOrElse("the default endpoint")
    def condition(name: String, parameters: (String, String)*): KinesisConnectorException =
      KinesisConnectorException.causedBy(error, name, (parameters :+ ("stream" -> stream)): _*)
    error.kind match {
      case ServiceErrorKind.ResourceNotFound =>
        condition("KINESIS_STREAM_NOT_FOUND", "where" -> where, "serviceMessage" -> error.getMessage)
      case ServiceErrorKind.AccessDenied =>
        condition("KINESIS_ACCESS_DENIED", "operation" -> error.operation.name, "serviceMessage" -> error.getMessage)
      case ServiceErrorKind.Client if error.getMessage.toLowerCase.contains("credential") =>
        condition("KINESIS_CREDENTIALS_FAILED", "reason" -> error.getMessage)
      case ServiceErrorKind.Network | ServiceErrorKind.Client =>
        condition(
          "KINESIS_ENDPOINT_UNREACHABLE",
          "operation" -> error.operation.name,
          "where" -> where,
          "reason" -> error.getMessage
        )
      case _ =>
        condition(
          "KINESIS_SERVICE_FAILED",
          "operation" -> error.operation.name,
          "serviceMessage" -> error.getMessage,
          "fix" -> "Mend what the service's message names, then start the query again: the checkpoint is kept."
        )
    }
  }
}
