package org.apache.spark.sparkkinesis

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.{AnalysisContext, NamedRelation, UnresolvedRelation}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession, SparkSessionExtensions, classic}

/** The rules of Spark 4 for tables in the session catalog. */
private object SessionTableRules {
  def addTo(extensions: SparkSessionExtensions): Unit = {
    // Rules for hints run before Spark resolves relations.
    extensions.injectHintResolutionRule(new NamedSessionTables(_))
    extensions.injectResolutionRule(_ => ReadSessionTables)
  }
}

/**
 * Resolves tables of the connector by their names where `spark.sql.catalog.spark_catalog` is not Spark's own catalog:
 * those that a statement reads with options or as a stream, and those that it writes. Spark would resolve them as
 * tables of data source V1, which it cannot read as streams, and which it caches without the options of a read. It
 * runs before Spark's own rule, and looks up no other relation, because a look-up may be a call of a metastore.
 */
final private class NamedSessionTables(session: SparkSession) extends Rule[LogicalPlan] {
  import SessionTables._

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (conf.getConfString(s"spark.sql.catalog.$CatalogName", "builtin") == "builtin") plan
    else plan.resolveOperatorsUp {
      case relation: UnresolvedRelation if relation.isStreaming || settings(relation).nonEmpty =>
        find(relation).fold[LogicalPlan](relation) { case (provider, table) =>
          SubqueryAlias(table.identifier.nameParts, read(relation, provider, table))
        }
      case insert: InsertIntoStatement => insert.table match {
          case relation: UnresolvedRelation =>
            written(relation).fold[LogicalPlan](insert)(replaced(insert, relation, _))
          case _ => insert
        }
      case write: V2WriteCommand => write.table match {
          case relation: UnresolvedRelation => written(relation).fold[LogicalPlan](write)(write.withNewTable)
          case _ => write
        }
    }

  private def written(relation: UnresolvedRelation): Option[NamedRelation] =
    find(relation).map { case (provider, table) => relationOf(provider, table, settings(relation)) }

  private def read(relation: UnresolvedRelation, provider: SessionTableProvider, table: CatalogTable): LogicalPlan =
    if (!relation.isStreaming) relationOf(provider, table, settings(relation))
    else analyzed(session.readStream.format(provider.shortName).load()) match {
      case stream: StreamingRelationV2 =>
        replaced(stream, stream.table, provider.tableOf(table.properties, settings(relation)))
      case other => throw new IllegalStateException(s"not a stream: ${other.getClass}")
    }

  private def analyzed(rows: DataFrame): LogicalPlan = rows match {
    case classic: classic.Dataset[_] => classic.queryExecution.analyzed
    case other => throw new IllegalStateException(s"not rows of a classic session: ${other.getClass}")
  }

  /** The options of one read or write, without what Spark adds to them. */
  private def settings(relation: UnresolvedRelation): Map[String, String] =
    relation.options.asCaseSensitiveMap.asScala.filterNot { case (name, _) => name.startsWith("__") }.toMap

  private def find(relation: UnresolvedRelation): Option[(SessionTableProvider, CatalogTable)] = {
    val catalog = session.sessionState.catalog
    val parts = relation.multipartIdentifier
    if (catalog.isTempView(parts)) None
    else for {
      name <- ofSessionCatalog(parts)
      table <- try Some(catalog.getTableMetadata(name))
      catch { case _: AnalysisException => None }
      provider <- providerOf(table.provider, conf)
    } yield (provider, table)
  }

  /** Expands a name as Spark does it, which in a view depends on where the view was created. */
  private def ofSessionCatalog(parts: Seq[String]): Option[TableIdentifier] = {
    val analyzer = session.sessionState.analyzer
    val context = AnalysisContext.get.catalogAndNamespace
    val full =
      if (context.isEmpty) parts
      else if (parts.size == 1) context :+ parts.head
      else if (analyzer.catalogManager.isCatalogRegistered(parts.head)) parts
      else context.head +: parts
    full match {
      case analyzer.CatalogAndIdentifier(catalog, name)
          if catalog.name() == SessionTables.CatalogName && name.namespace.length == 1 =>
        Some(TableIdentifier(name.name, name.namespace.headOption))
      case _ => None
    }
  }
}

/** Puts the real table in the place of its V1 form. */
private object ReadSessionTables extends Rule[LogicalPlan] {
  import SessionTables._

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case v1: LogicalRelation => v1.relation match {
        case relation: SessionTableRelation =>
          v1.catalogTable.fold[LogicalPlan](v1)(relationOf(relation.provider, _, Map.empty))
        case _ => v1
      }
  }
}
