package org.apache.spark.sparkkinesis

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{NamedRelation, ResolvedIdentifier}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.{CreateTable, InsertIntoStatement, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

import org.sparkkinesis.error.TableErrors
import org.sparkkinesis.spark.error.StatementException

/** The rules of Spark 3.5 for tables in the session catalog. */
private object SessionTableRules {
  def addTo(extensions: SparkSessionExtensions): Unit = {
    extensions.injectResolutionRule(_ => CreatedSessionTables)
    extensions.injectResolutionRule(new LoadedSessionTables(_))
  }
}

/**
 * Names the columns in a `CREATE TABLE` that names none, because Spark 3.5 does not ask the provider for them. Then the
 * statement is checked as one that names columns, and the catalog has them for `DESCRIBE` and `SHOW CREATE TABLE`.
 */
private object CreatedSessionTables extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case create: CreateTable if create.tableSchema.isEmpty =>
      create.name match {
        case ResolvedIdentifier(catalog, _) if catalog.name() == SessionTables.CatalogName =>
          val provider = SessionTables.providerOf(create.tableSpec.provider, conf)
          provider.fold(create)(found => create.copy(tableSchema = found.columns))
        case _ => create
      }
  }
}

/**
 * Puts the real table in the place of its V1 form, which Spark 3.5 loads from every session catalog, also from its own
 * one. Spark has no place for a rule that runs before it loads tables. It refuses `writeTo` and a read as a stream
 * while it loads them.
 */
final private class LoadedSessionTables(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case v1: LogicalRelation => loaded(v1).getOrElse(v1)
    // The table is no child of the statement.
    case insert: InsertIntoStatement => insert.table match {
        case v1: LogicalRelation => loaded(v1).fold[LogicalPlan](insert)(table => insert.copy(table = table))
        case _ => insert
      }
  }

  private def loaded(v1: LogicalRelation): Option[NamedRelation] = (v1.relation, v1.catalogTable) match {
    case (relation: SessionTableRelation, Some(table)) =>
      // Spark gives a relation in its cache to all later reads of the table, whatever their options are.
      session.sessionState.catalog.invalidateCachedTable(table.identifier)
      ensureWithoutOptions(relation, table)
      Some(SessionTables.relationOf(relation.provider, table, Map.empty))
    case _ => None
  }

  /** Spark 3.5 can give a read the options of another one, so options would not be reliable. */
  private def ensureWithoutOptions(relation: SessionTableRelation, table: CatalogTable): Unit = {
    val ofTable = (table.storage.properties.keySet + "path").map(_.toLowerCase(Locale.ROOT))
    val ofRead = relation.options.keys.filterNot(name => ofTable(name.toLowerCase(Locale.ROOT))).toSeq.sorted
    if (ofRead.nonEmpty)
      StatementException.raised(throw TableErrors.optionsOfRead(
        relation.provider.shortName,
        table.identifier.unquotedString,
        ofRead.mkString(", ")
      ))
  }
}
