package org.sparkkinesis.spark.sink.invalid

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types._
import org.apache.spark.sql.{AnalysisException, DataFrame, Row, SparkSession}

import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.spark.settings.KinesisSchema

/**
 * The table for invalid rows, used on the driver when a batch is committed.
 *
 * A micro-batch whose rows are in the table is not appended again. So a batch that Spark runs again, because its
 * commit was lost, appends its rows once, provided that the table appends all rows or none. A batch write has no
 * batch id, so repeated writes append their rows again.
 */
final class DeadLetterTable(name: String, queryId: String) {

  /**
   * Checks that the table can be used.
   *
   * @throws KinesisConnectorException
   *   when the table does not exist or lacks a column
   */
  def check(): Unit = {
    val found =
      try session.table(name).schema
      catch { case missing: AnalysisException => throw unusable(s"There is no such table: ${missing.getMessage}") }
    DeadLetterTable.schema.foreach { wanted =>
      found.find(_.name.equalsIgnoreCase(wanted.name)) match {
        case None => throw unusable(s"It has no column '${wanted.name}'.")
        case Some(field) if field.dataType != wanted.dataType =>
          throw unusable(s"Its column '${field.name}' is ${field.dataType.sql}, not ${wanted.dataType.sql}.")
        case _ => ()
      }
    }
  }

  /**
   * Appends the rows unless the table has this micro-batch.
   *
   * @param epochId
   *   id of the micro-batch; empty for a batch write
   */
  def append(letters: Seq[HeldLetter], epochId: Option[Long]): Unit =
    if (letters.nonEmpty && !epochId.exists(has)) {
      val rows = session.createDataFrame(letters.map(rowOf(_, epochId)).asJava, DeadLetterTable.schema)
      inTableOrder(rows).write.mode("append").insertInto(name)
    }

  private def has(epochId: Long): Boolean =
    !session.table(name).where(col("queryId") === queryId && col("epochId") === epochId).isEmpty

  /**
   * Orders the columns like the table, because `insertInto` uses positions. Additional columns of the table are null.
   */
  private def inTableOrder(rows: DataFrame): DataFrame = rows.select(session.table(name).schema.map { field =>
    if (DeadLetterTable.schema.exists(_.name.equalsIgnoreCase(field.name))) col(field.name)
    else lit(null).cast(field.dataType).as(field.name)
  }: _*)

  private def rowOf(letter: HeldLetter, epochId: Option[Long]): Row = Row(
    letter.reason,
    letter.stream,
    queryId,
    epochId.map(Long.box).orNull,
    letter.partition,
    letter.row,
    letter.partitionKey.orNull,
    letter.data.orNull,
    letter.dataBytes.map(Long.box).orNull
  )

  private def session: SparkSession = SparkSession.active

  private def unusable(reason: String) =
    SinkErrors.deadLetterTable(table = name, reason = reason, columns = DeadLetterTable.schema.toDDL)
}

object DeadLetterTable {

  /** The columns by name. `data` is the payload, truncated if it is long; `dataBytes` is its full length. */
  val schema: StructType = StructType(Seq(
    StructField("reason", StringType),
    StructField(KinesisSchema.Stream, StringType),
    StructField("queryId", StringType),
    StructField("epochId", LongType),
    StructField("partition", IntegerType),
    StructField("row", LongType),
    StructField(KinesisSchema.PartitionKey, StringType),
    StructField(KinesisSchema.Data, BinaryType),
    StructField("dataBytes", LongType)
  ))
}
