package org.sparkkinesis.error

/** Errors of writes. Each method creates the error of one condition. */
object SinkErrors {

  def columnMissing(column: String, reason: String, columns: String, fix: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SINK_COLUMN_MISSING",
      "column" -> column,
      "reason" -> reason,
      "columns" -> columns,
      "fix" -> fix
    )

  def columnType(column: String, `type`: String, expected: String, fix: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SINK_COLUMN_TYPE",
      "column" -> column,
      "type" -> `type`,
      "expected" -> expected,
      "fix" -> fix
    )

  def keyExpression(expression: String, reason: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_SINK_KEY_EXPRESSION", "expression" -> expression, "reason" -> reason)

  def rowInvalid(reason: String, row: Long, partition: Int, stream: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SINK_ROW_INVALID",
      "reason" -> reason,
      "row" -> row.toString,
      "partition" -> partition.toString,
      "stream" -> stream
    )

  def deadLetterTable(table: String, reason: String, columns: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SINK_DEAD_LETTER_TABLE",
      "table" -> table,
      "reason" -> reason,
      "columns" -> columns
    )

  def tooManyDeadLetters(
      held: Int,
      limit: String,
      partition: Int,
      table: String,
      reason: String
  ): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SINK_DEAD_LETTERS_TOO_MANY",
      "held" -> held.toString,
      "limit" -> limit,
      "partition" -> partition.toString,
      "table" -> table,
      "reason" -> reason
    )

  def deliveryFailed(stream: String, attempts: Int, waited: Long, lastReason: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SINK_DELIVERY_FAILED",
      "stream" -> stream,
      "attempts" -> attempts.toString,
      "waited" -> waited.toString,
      "lastReason" -> lastReason
    )

  /** The query reads the stream that it would write. */
  def loop(stream: String, arn: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_SINK_LOOP", "stream" -> stream, "arn" -> arn)

  def rateLimitingFailed(stream: String, reason: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_SINK_RATE_LIMITING_FAILED", "stream" -> stream, "reason" -> reason)

  /** The class of option `router` threw an exception or chose no stream. */
  def routerFailed(router: String, reason: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_SINK_ROUTER_FAILED", "router" -> router, "reason" -> reason)

  /** A logical stream has no physical stream that takes records. */
  def noActiveStream(id: String, version: Long): KinesisConnectorException =
    KinesisConnectorException("KINESIS_SINK_NO_ACTIVE_STREAM", "id" -> id, "version" -> version.toString)

  def autoDistribution(stream: String, option: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_SINK_AUTO_DISTRIBUTION", "stream" -> stream, "option" -> option)
}
