package org.sparkkinesis.spark.error

import org.apache.spark.SparkThrowable

/** An error whose condition Spark 3.5 knows, which calls it a class of errors. */
private[error] trait ConditionOfSpark extends SparkThrowable {
  def condition: String
  override def getErrorClass: String = condition

  /** The name of the condition, as Spark 4 calls it. */
  def getCondition: String = condition
}
