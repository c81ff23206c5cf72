package org.sparkkinesis.error

/**
 * An error for a user: what is wrong, why, and what to do, under a condition name that tools can match.
 *
 * The objects of this package make it, by subject: [[OptionErrors]], [[ServiceErrors]], [[ReadErrors]], [[ConsumerErrors]],
 * [[SinkErrors]], [[EmulatorErrors]].
 *
 * @param condition
 *   a name of `error-conditions.json`
 * @param parameters
 *   what the condition's texts name; never a secret
 */
final class KinesisConnectorException private (
    val condition: String,
    val parameters: Map[String, String],
    cause: Throwable
) extends RuntimeException(ErrorConditions.message(condition, parameters), cause) {

  /** The same error, with what led to it. */
  def causedBy(cause: Throwable): KinesisConnectorException =
    new KinesisConnectorException(condition, parameters, cause)
}

object KinesisConnectorException {
  private[error] def apply(condition: String, parameters: (String, String)*): KinesisConnectorException =
    new KinesisConnectorException(condition, parameters.toMap, null)
}
