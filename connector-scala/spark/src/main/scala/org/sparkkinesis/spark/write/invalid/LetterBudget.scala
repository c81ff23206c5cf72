package org.sparkkinesis.spark.write.invalid

import org.apache.spark.sql.SparkSession

/** What the driver takes of invalid rows from all tasks of a batch. */
object LetterBudget {
  private val MaxResultSize = "spark.driver.maxResultSize"

  /** Spark ends a job whose tasks send more than this; its own results need a part of it. */
  private val Share = 4

  def ofDriver: Long = of(SparkSession.active.sparkContext.getConf.getSizeAsBytes(MaxResultSize, "1g"))

  /** @param maxResultSize `spark.driver.maxResultSize`; zero when there is no limit, and the memory of the driver is what counts */
  def of(maxResultSize: Long): Long =
    (if (maxResultSize > 0) math.min(maxResultSize, Runtime.getRuntime.maxMemory) else Runtime.getRuntime.maxMemory) /
      Share
}
