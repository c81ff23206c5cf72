package org.sparkkinesis.spark.protocol

import org.sparkkinesis.config.ConnectorVersion
import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors}

/** Explains messages of another version of the connector. */
object OtherVersion {

  /**
   * Decodes a message for the driver.
   *
   * @param executor
   *   the executor that sent it, for the error
   * @return
   *   the message, or the error KINESIS_VERSIONS_DIFFER
   */
  def of(message: Array[Byte], executor: String): Either[KinesisConnectorException, ToDriver] =
    try Right(ProtocolCodec.decodeToDriver(message))
    catch {
      case other: OtherFormat => Left(differ(driver = ConnectorVersion.text, other.connector, executor).causedBy(other))
    }

  /**
   * Decodes a message for the executor.
   *
   * @throws KinesisConnectorException
   *   KINESIS_VERSIONS_DIFFER
   */
  def requireOwn(message: Array[Byte], executor: String): ToExecutor =
    try ProtocolCodec.decodeToExecutor(message)
    catch { case other: OtherFormat => throw differ(other.connector, ConnectorVersion.text, executor).causedBy(other) }

  private def differ(driver: String, executorVersion: String, executor: String): KinesisConnectorException =
    ReadErrors.versionsDiffer(driver = driver, executorVersion = executorVersion, executor = executor)
}
