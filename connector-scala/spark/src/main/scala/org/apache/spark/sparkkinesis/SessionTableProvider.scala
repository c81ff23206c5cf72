package org.apache.spark.sparkkinesis

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.sources._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row, SQLContext, SaveMode}

/**
 * A provider whose tables can be stored in Spark's session catalog, also if `spark.sql.catalog.spark_catalog` names
 * another implementation, as Delta Lake and Iceberg do. Spark loads a table of such a catalog only as a table of data
 * source V1. The V1 interfaces here exist so that it can; a rule of the connector then puts the real table in its
 * place.
 */
trait SessionTableProvider extends TableProvider with RelationProvider with SchemaRelationProvider {

  /** The name of the format. */
  def shortName: String

  /** The columns of each table of this provider. */
  def columns: StructType

  /**
   * Spark calls `inferSchema` while it creates a table only if a provider accepts the columns that a catalog stores.
   * Tables have their own columns whatever the catalog says.
   */
  override def supportsExternalMetadata(): Boolean = true

  final override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation =
    new SessionTableRelation(this, context, options)

  final override def createRelation(
      context: SQLContext,
      options: Map[String, String],
      stored: StructType
  ): BaseRelation = createRelation(context, options)

  /**
   * Checks the statement that creates a table.
   *
   * @param named the columns that the statement names
   * @throws org.apache.spark.sql.AnalysisException
   *   KINESIS_TABLE_SCHEMA_GIVEN, KINESIS_OPTION_UNKNOWN, …
   */
  def checkCreation(named: StructType, properties: Map[String, String], options: Map[String, String]): Unit

  /** Returns the table with the properties that a catalog stores, and with the options of one read or write. */
  def tableOf(properties: Map[String, String], ofRead: Map[String, String]): Table
}

/** A table of a [[SessionTableProvider]]. */
trait SessionTable extends Table {

  /** The name of the format. */
  def format: String

  /** Whether the table has the properties that a catalog stores. */
  def isOfCatalog: Boolean

  /**
   * Checks that a read names no columns of its own.
   *
   * @throws org.apache.spark.sql.AnalysisException
   *   KINESIS_TABLE_SCHEMA_GIVEN
   */
  def checkColumnsOfRead(): Unit

  /** The column of the payload, without which no row can be written. */
  def payloadColumn: String
}

/**
 * The V1 form of a table. It is read and written itself only in a session that lacks the connector's rules.
 */
final private[sparkkinesis] class SessionTableRelation(
    val provider: SessionTableProvider,
    override val sqlContext: SQLContext,
    val options: Map[String, String]
) extends BaseRelation with TableScan with InsertableRelation {
  override def schema: StructType = provider.columns
  override def needConversion: Boolean = true

  override def buildScan(): RDD[Row] =
    sqlContext.sparkSession.read.format(provider.shortName).options(options).load().rdd

  override def insert(rows: DataFrame, overwrite: Boolean): Unit = {
    val mode = if (overwrite) SaveMode.Overwrite else SaveMode.Append
    rows.write.format(provider.shortName).options(options).mode(mode).save()
  }

  override def toString: String = s"table of format ${provider.shortName}"
}
