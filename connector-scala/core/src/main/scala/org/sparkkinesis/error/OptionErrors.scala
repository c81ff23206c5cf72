package org.sparkkinesis.error

/** Errors of options. Each method creates the error of one condition. */
object OptionErrors {

  def unknown(option: String, suggestion: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_OPTION_UNKNOWN", "option" -> option, "suggestion" -> suggestion)

  def invalid(value: String, option: String, reason: String, expected: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_OPTION_INVALID",
      "value" -> value,
      "option" -> option,
      "reason" -> reason,
      "expected" -> expected
    )

  def unsupported(option: String, origin: String, reason: String, fix: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_OPTION_UNSUPPORTED",
      "option" -> option,
      "origin" -> origin,
      "reason" -> reason,
      "fix" -> fix
    )

  def missing(required: String, reason: String, fix: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_OPTION_MISSING", "required" -> required, "reason" -> reason, "fix" -> fix)

  def conflict(options: String, reason: String, fix: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_OPTION_CONFLICT", "options" -> options, "reason" -> reason, "fix" -> fix)

  def withoutEffect(option: String, reason: String, fix: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_OPTION_WITHOUT_EFFECT", "option" -> option, "reason" -> reason, "fix" -> fix)

  def secretUnresolved(option: String, reference: String, reason: String, fix: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SECRET_UNRESOLVED",
      "option" -> option,
      "reference" -> reference,
      "reason" -> reason,
      "fix" -> fix
    )
}
