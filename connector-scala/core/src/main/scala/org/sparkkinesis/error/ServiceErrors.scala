package org.sparkkinesis.error

import org.sparkkinesis.model.StreamStatus

/** Errors of the service and of the connection to it. Each method creates the error of one condition. */
object ServiceErrors {
  private val StreamNotFound = "KINESIS_STREAM_NOT_FOUND"
  private val StreamUnusable = "KINESIS_STREAM_UNUSABLE"
  private val AccessDenied = "KINESIS_ACCESS_DENIED"

  def regionMissing(stream: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_REGION_MISSING", "stream" -> stream)

  def streamNotFound(stream: String, where: String, serviceMessage: String): KinesisConnectorException =
    KinesisConnectorException(
      StreamNotFound,
      "stream" -> stream,
      "where" -> where,
      "serviceMessage" -> serviceMessage
    )

  /** Whether the service says that it does not have the stream. */
  def isStreamNotFound(error: Throwable): Boolean = isOf(error, StreamNotFound)

  /** Whether a stream has no records: it does not exist, or is being created. */
  def isAbsent(error: Throwable): Boolean = isStreamNotFound(error) ||
    (error match {
      case unusable: KinesisConnectorException => unusable.condition == StreamUnusable &&
        unusable.parameters.get("status").contains(StreamStatus.Creating.name)
      case _ => false
    })

  /** Whether the service has refused a call because a permission is missing. */
  def isAccessDenied(error: Throwable): Boolean = isOf(error, AccessDenied)

  private def isOf(error: Throwable, condition: String): Boolean = error match {
    case ours: KinesisConnectorException => ours.condition == condition
    case _ => false
  }

  def streamUnusable(stream: String, status: String): KinesisConnectorException =
    KinesisConnectorException(StreamUnusable, "stream" -> stream, "status" -> status)

  /** @param resource what the permission is for: `this stream`, … */
  def accessDenied(
      operation: String,
      permission: String,
      resource: String,
      stream: String,
      serviceMessage: String
  ): KinesisConnectorException =
    KinesisConnectorException(
      AccessDenied,
      "operation" -> operation,
      "permission" -> permission,
      "resource" -> resource,
      "stream" -> stream,
      "serviceMessage" -> serviceMessage
    )

  def failed(operation: String, stream: String, serviceMessage: String, fix: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SERVICE_FAILED",
      "operation" -> operation,
      "stream" -> stream,
      "serviceMessage" -> serviceMessage,
      "fix" -> fix
    )

  /** Without `fix`, the error says which options give credentials. */
  def credentialsFailed(
      stream: String,
      reason: String,
      fix: String = "Set 'awsAccessKey' and 'awsSecretKey', 'profile', 'roleArn' or 'credentialsProvider', or " +
        "provide credentials in the AWS default chain."
  ): KinesisConnectorException =
    KinesisConnectorException("KINESIS_CREDENTIALS_FAILED", "stream" -> stream, "reason" -> reason, "fix" -> fix)

  /** @param source where the proxy is set; the text itself may have a password */
  def proxyInvalid(source: String, reason: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_PROXY_INVALID", "source" -> source, "reason" -> reason)

  def caFileInvalid(file: String, reason: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_CA_FILE_INVALID", "file" -> file, "reason" -> reason)

  def notKinesis(where: String, operation: String, stream: String, reason: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_ENDPOINT_NOT_KINESIS",
      "where" -> where,
      "operation" -> operation,
      "stream" -> stream,
      "reason" -> reason
    )

  def endpointUnreachable(where: String, operation: String, stream: String, reason: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_ENDPOINT_UNREACHABLE",
      "where" -> where,
      "operation" -> operation,
      "stream" -> stream,
      "reason" -> reason
    )
}
