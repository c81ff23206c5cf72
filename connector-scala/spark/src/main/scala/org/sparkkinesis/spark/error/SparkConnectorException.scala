package org.sparkkinesis.spark.error

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.AnalysisException

import org.sparkkinesis.error.{ConnectorExceptionFactory, KinesisConnectorException}

/** An error of the connector with the interface of Spark's errors, so that `getCondition` returns its condition. */
final class SparkConnectorException(condition: String, parameters: Map[String, String], cause: Throwable)
    extends KinesisConnectorException(condition, parameters, cause) with ConditionOfSpark {
  override def getSqlState: String = SparkConnectorException.SqlState
  override def getMessageParameters: util.Map[String, String] = parameters.asJava
}

object SparkConnectorException {

  /** The class of errors of data sources among Spark's SQLSTATEs. */
  val SqlState = "KD000"
}

/** Makes all errors of the connector errors of Spark. */
final class SparkConnectorExceptions extends ConnectorExceptionFactory {
  override def create(condition: String, parameters: Map[String, String], cause: Throwable): KinesisConnectorException =
    new SparkConnectorException(condition, parameters, cause)
}

/** An error in a statement: in its options, its columns, or in what it does with a table. */
final class StatementException(error: KinesisConnectorException) extends AnalysisException(
      error.getMessage,
      None,
      None,
      Some(error),
      Some(error.condition),
      error.parameters,
      Array.empty
    ) {
  override def getSqlState: String = SparkConnectorException.SqlState
}

object StatementException {
  private val ofStatements =
    Seq("KINESIS_OPTION_", "KINESIS_TABLE_", "KINESIS_CATALOG_", "KINESIS_SINK_COLUMN_", "KINESIS_SINK_KEY_")

  /** Runs the body. An error of the connector that is the fault of the statement becomes an `AnalysisException`. */
  def raised[T](body: => T): T =
    try body
    catch {
      case error: KinesisConnectorException if ofStatements.exists(error.condition.startsWith) =>
        throw new StatementException(error)
    }
}
