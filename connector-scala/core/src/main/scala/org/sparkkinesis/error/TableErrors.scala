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
}
