package org.sparkkinesis.error

/** Errors of metadata services, which name the streams of a logical stream. */
object MetadataErrors {

  def unavailable(ids: String, service: String, reason: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_METADATA_UNAVAILABLE", "ids" -> ids, "service" -> service, "reason" -> reason)

  def invalid(service: String, reason: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_METADATA_INVALID", "service" -> service, "reason" -> reason)

  def removed(streams: String, service: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_STREAM_REMOVED", "streams" -> streams, "service" -> service)

  def forbidden(stream: String, reason: String, option: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_METADATA_FORBIDDEN", "stream" -> stream, "reason" -> reason, "option" -> option)
}
