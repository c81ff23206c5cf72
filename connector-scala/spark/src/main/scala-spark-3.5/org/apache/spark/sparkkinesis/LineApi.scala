package org.apache.spark.sparkkinesis

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.{DataFrame, SparkSession, SparkSessionExtensions}

/** The parts of Spark that differ between its lines: those of Spark 3.5. */
private object LineApi {

  /**
   * Adds a rule that runs while Spark resolves relations. Spark 3.5 has no place for one that runs before, so a table
   * in a session catalog that is not Spark's own is read without the options of the read, and not as a stream.
   */
  def injectFirst(extensions: SparkSessionExtensions, rule: SparkSession => Rule[LogicalPlan]): Unit =
    extensions.injectResolutionRule(rule(_))

  /** Returns the analyzed plan. */
  def analyzed(rows: DataFrame): LogicalPlan = rows.queryExecution.analyzed
}
