package org.sparkkinesis.spark.metric

import org.apache.spark.sql.connector.metric.{CustomSumMetric, CustomTaskMetric}

/** A metric value of one task. Spark aggregates the values of all tasks. */
final class TaskValue(override val name: String, override val value: Long) extends CustomTaskMetric

/**
 * A metric of Spark's SQL tab that is summed over tasks. Spark creates subclasses by name, so they need a constructor
 * without parameters.
 */
abstract class TaskSum(override val name: String, override val description: String) extends CustomSumMetric
