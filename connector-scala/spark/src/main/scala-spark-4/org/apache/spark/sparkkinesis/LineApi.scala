package org.apache.spark.sparkkinesis

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.{DataFrame, SparkSession, SparkSessionExtensions, classic}

/** The parts of Spark that differ between its lines: those of Spark 4. */
private object LineApi {

  /** Adds a rule that runs before Spark resolves relations. */
  def injectFirst(extensions: SparkSessionExtensions, rule: SparkSession => Rule[LogicalPlan]): Unit =
    extensions.injectHintResolutionRule(rule(_))

  /** Returns the analyzed plan of rows of a classic session. */
  def analyzed(rows: DataFrame): LogicalPlan = rows match {
    case classic: classic.Dataset[_] => classic.queryExecution.analyzed
    case other => throw new IllegalStateException(s"not rows of a classic session: ${other.getClass}")
  }
}
