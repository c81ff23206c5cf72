package org.sparkkinesis.spark.sink.invalid

import org.apache.spark.sql.SparkSession

/** The bytes of invalid rows that the driver accepts from all tasks of a batch. */
object LetterBudget {
  private val MaxResultSize = "spark.driver.maxResultSize"

  /**
   * The divisor of the limit, because Spark fails a job whose results exceed it, and Spark's own results need a part
   * of it.
   */
  private val Share = 4

  def ofDriver: Long = of(SparkSession.active.sparkContext.getConf.getSizeAsBytes(MaxResultSize, "1g"))

  /**
   * Returns the bytes for a limit.
   *
   * @param maxResultSize
   *   `spark.driver.maxResultSize` in bytes; 0 for no limit, in which case the driver's heap counts
   */
  def of(maxResultSize: Long): Long =
    (if (maxResultSize > 0) math.min(maxResultSize, Runtime.getRuntime.maxMemory) else Runtime.getRuntime.maxMemory) /
      Share
}
