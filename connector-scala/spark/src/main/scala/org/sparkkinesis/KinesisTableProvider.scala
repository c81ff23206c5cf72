package org.sparkkinesis

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.spark.table.KinesisTable

/**
 * Provides `format("kinesis")` and `USING kinesis`. Spark finds it through its service entry. It creates tables from
 * options and calls no service.
 */
class KinesisTableProvider extends TableProvider with DataSourceRegister {
  override def shortName(): String = "kinesis"
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = KinesisSchema.columns

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table =
    new KinesisTable(properties.asScala.toMap)
}

/**
 * Provides the same as `format("aws-kinesis")`, for platforms such as Databricks on which another connector has the
 * name `kinesis`.
 */
final class AwsKinesisTableProvider extends KinesisTableProvider {
  override def shortName(): String = "aws-kinesis"
}
