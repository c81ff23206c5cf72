package org.sparkkinesis.spark.table

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sparkkinesis.{SessionTable, SessionTableProvider}
import org.apache.spark.sql.connector.catalog.{Table, TableCatalog}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.error.TableErrors
import org.sparkkinesis.spark.error.StatementException

/** Creates tables of the connector from options, or from what a catalog stores. It calls no service. */
abstract class ConnectorTableProvider extends SessionTableProvider {
  protected def options(properties: Map[String, String]): TableOptions

  /** @param named the columns that the user or the catalog names */
  protected def table(options: TableOptions, named: StructType): SessionTable

  /**
   * Checks the options of `CREATE TABLE`. Spark calls it for reads and writes as well, before `getTable`, which checks
   * these.
   *
   * @throws org.apache.spark.sql.AnalysisException
   *   KINESIS_OPTION_UNKNOWN, KINESIS_OPTION_INVALID, …
   */
  override def inferSchema(raw: CaseInsensitiveStringMap): StructType = {
    val all = options(raw.asCaseSensitiveMap().asScala.toMap)
    if (all.isOfCatalog) all.checked: Unit
    columns
  }

  /** Loads a table of a catalog whatever its options are. The options of a read or write are checked. */
  override def getTable(named: StructType, by: Array[Transform], properties: util.Map[String, String]): Table = {
    val all = options(properties.asScala.toMap)
    if (!all.isOfCatalog) all.checked: Unit
    table(all, named)
  }

  override def checkCreation(
      named: StructType,
      properties: Map[String, String],
      options: Map[String, String]
  ): Unit = {
    ConnectorTableProvider.checkColumns(shortName, columns, named)
    val ofCatalog = properties + (TableCatalog.PROP_PROVIDER -> shortName)
    this.options(TableOptions.withOptions(ofCatalog, options)).checked: Unit
  }

  override def tableOf(properties: Map[String, String], ofRead: Map[String, String]): Table =
    table(options(TableOptions.withOptions(properties, ofRead)), columns)
}

object ConnectorTableProvider {

  /**
   * Checks that a statement names the columns of the table. Comments and nullability do not count.
   *
   * @throws org.apache.spark.sql.AnalysisException
   *   KINESIS_TABLE_SCHEMA_GIVEN
   */
  private[sparkkinesis] def checkColumns(format: String, columns: StructType, named: StructType): Unit =
    if (types(named) != types(columns))
      StatementException.raised(throw TableErrors.schemaGiven(format, columns.fieldNames.mkString(", ")))

  private def types(columns: StructType): Seq[(String, DataType)] =
    columns.map(column => column.name -> column.dataType)
}
