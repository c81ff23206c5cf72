package org.sparkkinesis.spark.metric

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** A metric value of one task. Spark aggregates the values of all tasks. */
final class TaskValue(override val name: String, override val value: Long) extends CustomTaskMetric

/**
 * A metric of Spark's SQL tab that is summed over tasks. Spark creates subclasses by name, so they need a constructor
 * without parameters.
 */
abstract class TaskSum(override val name: String, override val description: String) extends CustomSumMetric

/** A metric of Spark's SQL tab whose value is the greatest one of all tasks. Created by name, like [[TaskSum]]. */
abstract class TaskMax(override val name: String, override val description: String) extends CustomMetric {
  override def aggregateTaskMetrics(values: Array[Long]): String = values.maxOption.getOrElse(0L).toString
}

/** A metric of Spark's SQL tab whose value is the smallest one of all tasks that is not 0. Created by name. */
abstract class TaskMin(override val name: String, override val description: String) extends CustomMetric {
  override def aggregateTaskMetrics(values: Array[Long]): String =
    values.filter(_ != 0).minOption.getOrElse(0L).toString
}
