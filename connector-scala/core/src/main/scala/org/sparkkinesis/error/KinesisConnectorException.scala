package org.sparkkinesis.error

import org.sparkkinesis.secret.Redaction

/**
 * An error for the user: problem, cause and fix, with a condition name for programs.
 *
 * The objects of this package create it by subject: [[OptionErrors]], [[ServiceErrors]], [[ReadErrors]],
 * [[ConsumerErrors]], [[SinkErrors]], [[MetadataErrors]], [[EmulatorErrors]].
 *
 * @param condition
 *   a name from `error-conditions.json`
 * @param parameters
 *   values of the placeholders, without secrets
 */
final class KinesisConnectorException private (
    val condition: String,
    val parameters: Map[String, String],
    cause: Throwable
) extends RuntimeException(ErrorConditions.message(condition, parameters), cause) {

  /** Returns the same error with a cause, whose messages lose their secrets. */
  def causedBy(cause: Throwable): KinesisConnectorException =
    new KinesisConnectorException(condition, parameters, Redaction.failure(cause))
}

object KinesisConnectorException {
  private[error] def apply(condition: String, parameters: (String, String)*): KinesisConnectorException =
    new KinesisConnectorException(
      condition,
      parameters.map { case (name, value) => name -> Redaction.text(value) }.toMap,
      null
    )
}
