package org.sparkkinesis.spark.table

import org.apache.spark.sparkkinesis.SessionTable
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.Options
import org.sparkkinesis.spark.settings.KinesisSchema

/** Creates tables of streams from options. It calls no service. */
final class KinesisTables(override val shortName: String) extends ConnectorTableProvider {
  override def columns: StructType = KinesisSchema.columns

  override protected def options(properties: Map[String, String]): TableOptions =
    new TableOptions(properties, KinesisTable.read, KinesisTable.peek, Options.isOption(_))

  override protected def table(options: TableOptions, named: StructType): SessionTable =
    new KinesisTable(options, named)
}
