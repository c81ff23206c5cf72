package org.sparkkinesis

import org.apache.spark.sparkkinesis.SessionTable
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.Options
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.spark.table.{ConnectorTableProvider, KinesisTable, TableOptions}

/**
 * Provides `format("kinesis")` and `USING kinesis`. Spark finds it through its service entry. It creates tables from
 * options and calls no service.
 */
class KinesisTableProvider extends ConnectorTableProvider {
  override def shortName(): String = KinesisTable.Format
  override def columns: StructType = KinesisSchema.columns

  override protected def options(properties: Map[String, String]): TableOptions =
    new TableOptions(properties, KinesisTable.read, KinesisTable.peek, Options.isOption(_))

  override protected def table(options: TableOptions, named: StructType): SessionTable =
    new KinesisTable(options, named)
}

/**
 * Provides the same as `format("aws-kinesis")`, for platforms such as Databricks on which another connector has the
 * name `kinesis`.
 */
final class AwsKinesisTableProvider extends KinesisTableProvider {
  override def shortName(): String = "aws-kinesis"
}
