package org.sparkkinesis.error

import java.util.ServiceLoader

import org.sparkkinesis.secret.Redaction

/**
 * An error for the user: problem, cause and fix, with a condition name for programs.
 *
 * The objects of this package create it by subject: [[OptionErrors]], [[TableErrors]], [[ServiceErrors]],
 * [[ReadErrors]], [[ConsumerErrors]], [[SinkErrors]], [[MetadataErrors]], [[EmulatorErrors]].
 *
 * @param condition
 *   a name from `error-conditions.json`
 * @param parameters
 *   values of the placeholders, without secrets
 */
class KinesisConnectorException protected[sparkkinesis] (
    val condition: String,
    val parameters: Map[String, String],
    cause: Throwable
) extends RuntimeException(ErrorConditions.message(condition, parameters), cause) {

  /** Returns the same error with a cause, whose messages lose their secrets. */
  def causedBy(cause: Throwable): KinesisConnectorException =
    KinesisConnectorException.create(condition, parameters, Redaction.failure(cause))
}

object KinesisConnectorException {
  private[error] def apply(condition: String, parameters: (String, String)*): KinesisConnectorException =
    create(condition, parameters.map { case (name, value) => name -> Redaction.text(value) }.toMap, null)

  private def create(condition: String, parameters: Map[String, String], cause: Throwable): KinesisConnectorException =
    factory.fold(new KinesisConnectorException(condition, parameters, cause))(_.create(condition, parameters, cause))

  /** The factory of the engine that the connector runs in, if there is one. */
  private lazy val factory: Option[ConnectorExceptionFactory] = {
    val found = ServiceLoader.load(classOf[ConnectorExceptionFactory], getClass.getClassLoader).iterator
    Option.when(found.hasNext)(found.next())
  }
}

/** Creates all errors of the connector as subclasses that an engine knows. It is found through its service entry. */
trait ConnectorExceptionFactory {
  def create(condition: String, parameters: Map[String, String], cause: Throwable): KinesisConnectorException
}
