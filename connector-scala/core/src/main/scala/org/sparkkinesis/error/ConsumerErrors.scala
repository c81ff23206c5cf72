package org.sparkkinesis.error

/** Errors of enhanced fan-out consumers. Each method creates the error of one condition. */
object ConsumerErrors {

  def limitReached(consumer: String, stream: String, count: Int, existing: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_CONSUMER_LIMIT",
      "consumer" -> consumer,
      "stream" -> stream,
      "count" -> count.toString,
      "existing" -> existing
    )

  def notReady(consumer: String, status: String, limit: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_CONSUMER_NOT_READY",
      "consumer" -> consumer,
      "status" -> status,
      "limit" -> limit
    )

  def inUse(consumer: String, stream: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_CONSUMER_IN_USE", "consumer" -> consumer, "stream" -> stream)

  def notFound(consumer: String, stream: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_CONSUMER_NOT_FOUND", "consumer" -> consumer, "stream" -> stream)
}
