package org.sparkkinesis.spark.error

import org.apache.spark.SparkThrowable

/** An error whose condition Spark 4 knows. */
private[error] trait ConditionOfSpark extends SparkThrowable {
  def condition: String
  override def getCondition: String = condition
}
