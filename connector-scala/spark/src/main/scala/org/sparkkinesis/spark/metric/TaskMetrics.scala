package org.sparkkinesis.spark.metric

import org.apache.spark.sql.connector.metric.{CustomSumMetric, CustomTaskMetric}

/** A number that a task tells; Spark makes one of all tasks' numbers of it. */
final class TaskValue(override val name: String, override val value: Long) extends CustomTaskMetric

/** A metric of the SQL tab that sums over tasks. Spark makes the classes below it by name, each without parameters. */
abstract class TaskSum(override val name: String, override val description: String) extends CustomSumMetric
