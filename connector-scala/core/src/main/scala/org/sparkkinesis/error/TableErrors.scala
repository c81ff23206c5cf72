package org.sparkkinesis.error

/** Errors of statements on tables. Each method creates the error of one condition. */
object TableErrors {

  def schemaGiven(format: String, columns: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_TABLE_SCHEMA_GIVEN", "format" -> format, "columns" -> columns)

  def createdFromQuery(format: String, table: String, options: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_TABLE_CREATED_FROM_QUERY",
      "format" -> format,
      "table" -> table,
      "options" -> options
    )

  def optionsOfRead(format: String, table: String, options: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_TABLE_OPTIONS_OF_READ",
      "format" -> format,
      "table" -> table,
      "options" -> options
    )

  def functionArgument(function: String, argument: String, reason: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_TABLE_FUNCTION_ARGUMENT",
      "function" -> function,
      "argument" -> argument,
      "reason" -> reason
    )

  def changesNotAllowed(statement: String, stream: String, catalog: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_CATALOG_CHANGES_NOT_ALLOWED",
      "statement" -> statement,
      "stream" -> stream,
      "catalog" -> catalog
    )

  def streamProperty(property: String, value: String, reason: String, expected: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_CATALOG_PROPERTY_INVALID",
      "property" -> property,
      "value" -> value,
      "reason" -> reason,
      "expected" -> expected
    )

  def catalogUnsupported(
      catalog: String,
      statement: String,
      reason: String,
      fix: String
  ): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_CATALOG_UNSUPPORTED",
      "catalog" -> catalog,
      "statement" -> statement,
      "reason" -> reason,
      "fix" -> fix
    )
}
