package org.apache.spark.sparkkinesis

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.analysis.{NamedRelation, ResolvedIdentifier, UnresolvedIdentifier}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{StreamingRelationV2, WriteToStream}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.error.TableErrors
import org.sparkkinesis.spark.error.StatementException

/** The connector's rules for each session. */
object ConnectorRules {
  def addTo(extensions: SparkSessionExtensions): Unit = {
    SessionTableRules.addTo(extensions)
    ReadFunction.addTo(extensions)
    extensions.injectResolutionRule(_ => WriteSessionTables)
    extensions.injectResolutionRule(_ => TableStatements)
  }
}

/** Tables of the connector's formats in a session catalog that Spark loads only as tables of data source V1. */
private object SessionTables {

  /** The name of the session catalog, whatever implements it. */
  val CatalogName = "spark_catalog"

  /** The provider of a format, if it is one of the connector's. */
  def providerOf(format: Option[String], conf: SQLConf): Option[SessionTableProvider] =
    format.filter(isOurs).flatMap(DataSource.lookupDataSourceV2(_, conf)).collect {
      case registered: RegisteredTables => registered.implementation()
    }.collect {
      case provider: SessionTableProvider => provider
    }

  /** Avoids a look-up of the providers of all other tables. */
  def isOurs(format: String): Boolean =
    formats(format.toLowerCase(java.util.Locale.ROOT)) || format.startsWith("org.sparkkinesis.")

  private val formats = Set("kinesis", "aws-kinesis", "firehose")

  def relationOf(provider: SessionTableProvider, table: CatalogTable, ofRead: Map[String, String]): NamedRelation =
    DataSourceV2Relation.create(provider.tableOf(table.properties, ofRead), None, None)

  /** Returns the node with one of its arguments replaced, whatever arguments this version of Spark has besides. */
  def replaced(node: LogicalPlan, argument: AnyRef, by: AnyRef): LogicalPlan =
    node.makeCopy(node.productIterator.map {
      case one: AnyRef if one eq argument => by
      case other => other.asInstanceOf[AnyRef]
    }.toArray)
}

/** Puts the real table in the place of the sink of `toTable`, which Spark creates without the table's options. */
private object WriteSessionTables extends Rule[LogicalPlan] {
  import SessionTables._

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case write: WriteToStream => write.sink match {
        case sink: SessionTable if !sink.isOfCatalog =>
          catalogTable(write).fold[LogicalPlan](write)(replaced(write, sink, _))
        case _ => write
      }
  }

  private def catalogTable(write: WriteToStream): Option[Table] = for {
    table <- write.catalogTable
    provider <- providerOf(table.provider, conf)
  } yield provider.tableOf(table.properties, Map.empty)
}

/** The rules of SQL for statements on the connector's tables that the tables themselves cannot follow. */
private object TableStatements extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case append: AppendData if !append.isByName && append.query.resolved =>
      append.table match {
        case relation: DataSourceV2Relation => relation.table match {
            case table: SessionTable => byPosition(append, table)
            case _ => append
          }
        case _ => append
      }
    case create: V2CreateTableAsSelectPlan => refuse(create)
    case create: CreateTable => checked(create, create.tableSchema, create.tableSpec)
    case replace: ReplaceTable => checked(replace, replace.tableSchema, replace.tableSpec)
    case read: DataSourceV2Relation => checked(read, read.table)
    case read: StreamingRelationV2 => checked(read, read.table)
  }

  /**
   * Checks the columns and the options of a statement that names columns. For one that names none, Spark asks the
   * provider. A statement without a mistake is left as it is, so it may be checked more than once.
   */
  private def checked(create: LogicalPlan, columns: => StructType, spec: TableSpecBase): LogicalPlan = {
    spec match {
      case resolved: TableSpec =>
        for (provider <- SessionTables.providerOf(resolved.provider, conf) if columns.nonEmpty)
          provider.checkCreation(columns, resolved.properties, resolved.options)
      case _ => ()
    }
    create
  }

  private def checked(read: LogicalPlan, table: Table): LogicalPlan = {
    table match {
      case ours: SessionTable => ours.checkColumnsOfRead()
      case _ => ()
    }
    read
  }

  /**
   * Names the columns of an INSERT without a list of columns by their positions, as SQL does it. Rows with a column
   * of the payload's name have names already; Spark passes both kinds on as they are, because the tables accept any
   * schema.
   */
  private def byPosition(append: AppendData, table: SessionTable): LogicalPlan = {
    val rows = append.query.output
    val names = table.columns().map(_.name).toSeq
    val isNamed = rows.map(_.name) == names.take(rows.size) ||
      rows.exists(column => conf.resolver(column.name, table.payloadColumn))
    if (isNamed || rows.size > names.size) append
    else append.withNewQuery(
      Project(rows.zip(names).map { case (column, name) => Alias(column, name)() }, append.query)
    )
  }

  private def refuse(create: V2CreateTableAsSelectPlan): LogicalPlan = create match {
    case one: CreateTableAsSelect => refuse(one, one.tableSpec)
    case one: ReplaceTableAsSelect => refuse(one, one.tableSpec)
    case other => other
  }

  private def refuse(create: V2CreateTableAsSelectPlan, spec: TableSpecBase): LogicalPlan =
    spec.provider.filter(SessionTables.isOurs).fold[LogicalPlan](create) { format =>
      val name = create.name match {
        case unresolved: UnresolvedIdentifier => unresolved.nameParts.mkString(".")
        case resolved: ResolvedIdentifier => resolved.identifier.toString
        case other => other.toString
      }
      val stream = if (format.equalsIgnoreCase("firehose")) "deliveryStreamName" else "streamName"
      StatementException.raised(throw TableErrors.createdFromQuery(format, name, s"$stream '…'"))
    }
}
