package org.sparkkinesis.kit.stream

import org.apache.spark.sql.{DataFrame, Dataset, Encoder, SQLContext, SparkSession}

/**
 * The input of a streaming query to which a test adds rows. It is Spark's `MemoryStream`, by reflection: Spark 4.0 has
 * it in another package than later versions, so compiled suites cannot name it.
 */
final class MemoryInput[A] private (stream: AnyRef) {

  /** Returns the rows as a streaming table with a column `value`. */
  def toDF(): DataFrame = stream.getClass.getMethod("toDF").invoke(stream) match {
    case rows: Dataset[_] => rows.toDF()
    case other => throw new IllegalStateException(s"not a table: $other")
  }

  def addData(rows: Iterable[A]): Unit =
    stream.getClass.getMethod("addData", classOf[IterableOnce[_]]).invoke(stream, rows): Unit
}

object MemoryInput {
  private lazy val factory = {
    val streaming = "org.apache.spark.sql.execution.streaming"
    val owner: Class[_] =
      try Class.forName(s"$streaming.runtime.MemoryStream")
      catch { case _: ClassNotFoundException => Class.forName(s"$streaming.MemoryStream") }
    owner.getMethod("apply", classOf[Encoder[_]], classOf[SQLContext])
  }

  def apply[A](spark: SparkSession)(implicit encoder: Encoder[A]): MemoryInput[A] =
    new MemoryInput[A](factory.invoke(null, encoder, spark.sqlContext))
}
