package org.sparkkinesis.firehose

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.config.FirehoseOptions
import org.sparkkinesis.spark.table.{OptionCheck, SecretWarnings}

/**
 * Provides `format("firehose")` and `USING firehose` for writes. Spark finds it through its service entry. It creates
 * tables from options and calls no service.
 */
final class FirehoseTableProvider extends TableProvider with DataSourceRegister {
  override def shortName(): String = FirehoseSink.format
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = FirehoseTable.Columns

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table =
    new FirehoseTable(properties.asScala.toMap)
}

/** Checks the options of a write to a delivery stream. */
final class FirehoseOptionCheck
    extends OptionCheck(FirehoseOptions.read(_, SecretWarnings.resolver), FirehosePlanner.check) {
  override def shortName(): String = "firehose-sink-options"
}
