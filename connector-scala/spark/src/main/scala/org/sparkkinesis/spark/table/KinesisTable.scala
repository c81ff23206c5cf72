package org.sparkkinesis.spark.table

import java.util
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.sparkkinesis.SessionTable
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.concurrent.SystemClock
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.event.{ConnectorEvent, OptionDeprecated}
import org.sparkkinesis.spark.read.{KinesisScanBuilder, ReadDescription}
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.spark.write.route.RouteBooks
import org.sparkkinesis.spark.write.{KinesisSink, KinesisWriteBuilder}

/**
 * A table over one stream, or over several streams that are read together. It exists whatever its options are; a wrong
 * option is an error of reading and of writing it.
 *
 * @param declared
 *   options of the table; the options of a read or write override them
 * @param named
 *   the columns that the user or the catalog names
 */
class KinesisTable(declared: TableOptions, named: StructType) extends SessionTable with SupportsRead
    with SupportsWrite
    with SupportsMetadataColumns
    with ReportsSinkMetrics {
  private val progress = KinesisSink.newProgress(SystemClock)
  private val routes = new RouteBooks.OfTable

  /** The events that are emitted once although each micro-batch is planned again. */
  private val told = ConcurrentHashMap.newKeySet[(String, ConnectorEvent)]()

  override def name(): String = ReadDescription.ofTable(KinesisTable.Format, declared.peek)
  override def format: String = KinesisTable.Format
  override def isOfCatalog: Boolean = declared.isOfCatalog
  override def payloadColumn: String = KinesisSchema.Data

  /** A write names the columns of its rows, a read has none to name, and those of a catalog do not matter. */
  override def checkColumnsOfRead(): Unit =
    if (!isOfCatalog) ConnectorTableProvider.checkColumns(format, schema(), named)

  override def properties(): util.Map[String, String] = declared.shown
  override def schema(): StructType = KinesisSchema.columns

  override def capabilities(): util.Set[TableCapability] = util.EnumSet.of(
    TableCapability.BATCH_READ,
    TableCapability.MICRO_BATCH_READ,
    TableCapability.BATCH_WRITE,
    TableCapability.STREAMING_WRITE,
    // A row may lack some of the columns, and may have other columns for the partition key.
    TableCapability.ACCEPT_ANY_SCHEMA
  )

  override def metadataColumns(): Array[MetadataColumn] = KinesisSchema.metadata.map { case (field, doc) =>
    new MetadataColumn {
      override def name(): String = field.name
      override def dataType(): DataType = field.dataType
      override def isNullable(): Boolean = field.nullable
      override def comment(): String = doc
    }
  }.toArray

  /** Throws nothing, because Spark creates a scan to describe a table. The scan checks the options. */
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = new KinesisScanBuilder(() => {
    checkColumnsOfRead()
    declared.merged(options)
  })

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder =
    new KinesisWriteBuilder(
      declared.merged(info.options()),
      info,
      progress,
      event => told.add(info.queryId -> event),
      routes
    )

  override def metrics(): util.Map[String, String] = {
    val ofRoutes = routes.metrics
    if (ofRoutes.isEmpty) progress.metrics
    else (progress.metrics.asScala ++ ofRoutes.view.mapValues(_.toString)).asJava
  }

  override def toString: String = name()
}

object KinesisTable {
  val Format = "kinesis"

  /** A table exists before any query, so its events name no query. */
  private val events = new EventLog(QueryContext.Unknown)

  /**
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   when an option's name or value is invalid
   */
  def read(properties: Map[String, String], own: Map[String, String]): Options = {
    val options = peek(properties, own)
    options.warnings.foreach(warning => events.emit(OptionDeprecated(warning)))
    options
  }

  /** Does the same without an event. */
  def peek(properties: Map[String, String], own: Map[String, String]): Options =
    Options.overTable(properties, own, secrets = SecretWarnings.resolver)
}
