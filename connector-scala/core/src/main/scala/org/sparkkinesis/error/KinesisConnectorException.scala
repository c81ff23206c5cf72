package org.sparkkinesis.error

/**
 * An error for a user: what is wrong, why, and what to do, under a condition name that tools can match.
 *
 * @param condition
 *   a name of `error-conditions.json`
 * @param parameters
 *   what the condition's texts name; never a secret
 */
class KinesisConnectorException(
    val condition: String,
    val parameters: Map[String, String],
    cause: Throwable = null
) extends RuntimeException(ErrorConditions.message(condition, parameters), cause)

object KinesisConnectorException {
  def apply(condition: String, parameters: (String, String)*): KinesisConnectorException =
    new KinesisConnectorException(condition, parameters.toMap)

  def causedBy(cause: Throwable, condition: String, parameters: (String, String)*): KinesisConnectorException =
    new KinesisConnectorException(condition, parameters.toMap, cause)
}
