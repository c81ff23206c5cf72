package org.sparkkinesis.firehose

import org.apache.spark.sparkkinesis.SessionTable
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.FirehoseOptions
import org.sparkkinesis.spark.table.{ConnectorTableProvider, OptionCheck, SecretWarnings, TableOptions}

/**
 * Provides `format("firehose")` and `USING firehose` for writes. Spark finds it through its service entry. It creates
 * tables from options and calls no service.
 */
final class FirehoseTableProvider extends ConnectorTableProvider {
  override def shortName(): String = FirehoseSink.format
  override def columns: StructType = FirehoseTable.Columns

  override protected def options(properties: Map[String, String]): TableOptions = {
    val read: TableOptions.Read = FirehoseOptions.overTable(_, _, SecretWarnings.resolver)
    new TableOptions(properties, read, read, FirehoseOptions.isOption)
  }

  override protected def table(options: TableOptions, named: StructType): SessionTable = new FirehoseTable(options)
}

/** Checks the options of a write to a delivery stream. */
final class FirehoseOptionCheck
    extends OptionCheck(FirehoseOptions.read(_, SecretWarnings.resolver), FirehosePlanner.check) {
  override def shortName(): String = "firehose-sink-options"
}
