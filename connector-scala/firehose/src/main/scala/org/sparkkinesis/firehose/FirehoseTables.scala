package org.sparkkinesis.firehose

import org.apache.spark.sparkkinesis.SessionTable
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.FirehoseOptions
import org.sparkkinesis.spark.table.{ConnectorTableProvider, OptionCheck, SecretWarnings, TableOptions}

/** Creates tables of delivery streams, for writes, from options. It calls no service. */
final class FirehoseTables(override val shortName: String) extends ConnectorTableProvider {
  override def columns: StructType = FirehoseTable.Columns

  override protected def options(properties: Map[String, String]): TableOptions = {
    val read: TableOptions.Read = FirehoseOptions.overTable(_, _, SecretWarnings.resolver)
    new TableOptions(properties, read, read, FirehoseOptions.isOption)
  }

  override protected def table(options: TableOptions, named: StructType): SessionTable = new FirehoseTable(options)
}

/** Checks the options of a write to a delivery stream. */
final class DeliveryOptionCheck(format: String)
    extends OptionCheck(format, FirehoseOptions.read(_, SecretWarnings.resolver), FirehosePlanner.check)
