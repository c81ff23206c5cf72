package org.sparkkinesis.error

/** An enhanced fan-out consumer cannot be used. One method for each condition, with its parameters. */
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
