package org.sparkkinesis

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.analysis.{
  NoSuchNamespaceException,
  NoSuchTableException,
  TableAlreadyExistsException
}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.config.{ConnectionOptions, Options}
import org.sparkkinesis.error.TableErrors
import org.sparkkinesis.service.StreamDescription
import org.sparkkinesis.spark.catalog.{CatalogTable, StreamCatalog, StreamProperties}
import org.sparkkinesis.spark.error.StatementException
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.spark.table.{ConnectorTableProvider, KinesisTable, TableOptions}

/**
 * The streams of an account as tables of a catalog, without a `CREATE TABLE` for each:
 * `spark.sql.catalog.kinesis=org.sparkkinesis.KinesisCatalog`. Options of the connector that all its tables have are
 * properties of the catalog, such as `spark.sql.catalog.kinesis.region`. The namespace `default` has the region of the
 * options, and each region is a namespace, too.
 *
 * The catalog stores nothing: it shows what the service has. Statements that create, change or delete streams are
 * errors unless `spark.sql.catalog.kinesis.allowStreamChanges` is true. They return when the service has made the
 * change.
 *
 * Errors in a statement are `AnalysisException` with a condition such as `KINESIS_CATALOG_CHANGES_NOT_ALLOWED` or
 * `KINESIS_CATALOG_PROPERTY_INVALID`. A stream that does not exist is Spark's `TABLE_OR_VIEW_NOT_FOUND`.
 */
final class KinesisCatalog extends TableCatalog with SupportsNamespaces {
  import KinesisCatalog._

  private var ownName = ""
  private var settings = Map.empty[String, String]
  private var allowsChanges = false

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    ownName = name
    allowsChanges = options.getBoolean(AllowStreamChanges, false)
    settings = options.asCaseSensitiveMap.asScala.toMap
      .filterNot { case (option, _) => option.equalsIgnoreCase(AllowStreamChanges) }
  }

  override def name(): String = ownName
  override def defaultNamespace(): Array[String] = Array(Default)

  override def listTables(namespace: Array[String]): Array[Identifier] = StatementException.raised {
    streams(namespace).names().map(Identifier.of(namespace, _)).toArray
  }

  override def loadTable(ident: Identifier): Table = StatementException.raised {
    if (!isNamespace(ident.namespace)) throw new NoSuchTableException(ident)
    table(ident, streams(ident.namespace).find(ident.name).getOrElse(throw new NoSuchTableException(ident)))
  }

  override def createTable(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = {
    val fields = columns.map(column => StructField(column.name, column.dataType, column.nullable))
    createTable(ident, StructType(fields), partitions, properties)
  }

  override def createTable(
      ident: Identifier,
      columns: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = change("CREATE TABLE", ident) { streams =>
    if (columns.nonEmpty) ConnectorTableProvider.checkColumns(KinesisTable.Format, KinesisSchema.columns, columns)
    if (partitions.nonEmpty)
      throw unsupported("PARTITIONED BY", "The service divides a stream into shards.", "Remove the clause.")
    val wanted = StreamProperties.of(properties.asScala)
    wanted.create: Unit
    if (streams.find(ident.name).isDefined) throw new TableAlreadyExistsException(ident)
    table(ident, streams.create(ident.name, wanted))
  }

  override def alterTable(ident: Identifier, changes: TableChange*): Table = change("ALTER TABLE", ident) { streams =>
    val properties = changes.map {
      case set: TableChange.SetProperty => set.property -> set.value
      case remove: TableChange.RemoveProperty =>
        throw unsupported("UNSET TBLPROPERTIES", s"A stream always has '${remove.property}'.", "Set another value.")
      case _ =>
        throw unsupported("a change of columns", "All streams have the same columns.", "Remove the statement.")
    }
    val wanted = StreamProperties.of(properties)
    table(ident, streams.alter(ident.name, wanted).getOrElse(throw new NoSuchTableException(ident)))
  }

  override def dropTable(ident: Identifier): Boolean = change("DROP TABLE", ident)(_.delete(ident.name))

  override def renameTable(from: Identifier, to: Identifier): Unit = StatementException.raised {
    throw unsupported("RENAME", "The service cannot rename a stream.", "Create another stream.")
  }

  override def listNamespaces(): Array[Array[String]] = Array(defaultNamespace())

  override def listNamespaces(namespace: Array[String]): Array[Array[String]] =
    if (namespace.isEmpty) listNamespaces()
    else if (isNamespace(namespace)) Array.empty
    else throw new NoSuchNamespaceException(namespace)

  override def namespaceExists(namespace: Array[String]): Boolean = isNamespace(namespace)

  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] =
    if (isNamespace(namespace)) util.Collections.emptyMap()
    else throw new NoSuchNamespaceException(namespace)

  override def createNamespace(namespace: Array[String], metadata: util.Map[String, String]): Unit =
    refusedNamespace("CREATE NAMESPACE")
  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit =
    refusedNamespace("ALTER NAMESPACE")
  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean = refusedNamespace("DROP NAMESPACE")

  private def refusedNamespace(statement: String): Nothing = StatementException.raised {
    throw unsupported(statement, "The namespaces are the regions of AWS.", "Use the name of a region.")
  }

  private def table(ident: Identifier, found: StreamDescription): Table = {
    val options = optionsOf(ident.namespace) + (ConnectionOptions.streamName.key -> ident.name)
    new CatalogTable(
      ownName,
      new TableOptions(options, KinesisTable.read, KinesisTable.peek, Options.isOption(_)),
      found,
      () => StatementException.raised(streams(ident.namespace).shards(ident.name))
    )
  }

  private def change[A](statement: String, ident: Identifier)(body: StreamCatalog => A): A =
    StatementException.raised {
      if (!allowsChanges) throw TableErrors.changesNotAllowed(statement, ident.name, ownName)
      body(streams(ident.namespace))
    }

  private def streams(namespace: Array[String]): StreamCatalog =
    new StreamCatalog(KinesisTable.read(optionsOf(namespace), Map.empty))

  /** Returns the options with which the streams of a namespace are read. */
  private def optionsOf(namespace: Array[String]): Map[String, String] =
    if (!isNamespace(namespace)) throw new NoSuchNamespaceException(namespace)
    else if (namespace.head == Default) settings
    else
      settings.filterNot { case (option, _) => option.equalsIgnoreCase(ConnectionOptions.region.key) } +
        (ConnectionOptions.region.key -> namespace.head)

  private def unsupported(statement: String, reason: String, fix: String) =
    TableErrors.catalogUnsupported(ownName, statement, reason, fix)
}

private object KinesisCatalog {
  val AllowStreamChanges = "allowStreamChanges"
  val Default = "default"
  private val Region = "[a-z]{2,}(-[a-z]+)+-[0-9]+"

  def isNamespace(namespace: Array[String]): Boolean =
    namespace.length == 1 && (namespace.head == Default || namespace.head.matches(Region))
}
