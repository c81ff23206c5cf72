package org.sparkkinesis.spark.write.invalid

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types._
import org.apache.spark.sql.{AnalysisException, DataFrame, Row, SparkSession}

import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.spark.settings.KinesisSchema

/**
 * The table that invalid rows go to; used on the driver, when a batch is committed.
 *
 * Rows of a micro-batch that are there already are not appended again, so a batch that Spark runs once more after its commit
 * was lost leaves them once, provided that the table appends all of them or none. A batch write has no such number: what is
 * run again is appended again.
 */
final class DeadLetterTable(name: String, queryId: String) {

  /** @throws KinesisConnectorException when the table is missing, or lacks a column */
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

  /** @param epochId the micro-batch; none for a batch write */
  def append(letters: Seq[HeldLetter], epochId: Option[Long]): Unit =
    if (letters.nonEmpty && !epochId.exists(has)) {
      val rows = session.createDataFrame(letters.map(rowOf(_, epochId)).asJava, DeadLetterTable.schema)
      inTableOrder(rows).write.mode("append").insertInto(name)
    }

  private def has(epochId: Long): Boolean =
    !session.table(name).where(col("queryId") === queryId && col("epochId") === epochId).isEmpty

  /** `insertInto` goes by place; columns of the table that are not ours stay null. */
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

  /** Columns by name. `data` is the payload, cut where it is long; `dataBytes` is how long it was. */
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
