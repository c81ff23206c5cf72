package org.sparkkinesis.spark.write

import java.util.concurrent.ThreadLocalRandom

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, XxHash64}

import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.spark.sink.DataColumn

/** Converts rows to records, for one task. */
final class RowToRecord(columns: WriteColumns) {
  import RowToRecord._

  private val keyOf: InternalRow => Option[String] = columns.key match {
    case KeySource.Column(ordinal) =>
      val column = Some(ordinal)
      row => text(row, column)
    case KeySource.Random => _ => Some(java.lang.Long.toHexString(ThreadLocalRandom.current().nextLong()))
    case KeySource.Hash(hashed) =>
      val hash = XxHash64(hashed.map(column => BoundReference(column.ordinal, column.dataType, column.nullable)), Seed)
      row => Some(java.lang.Long.toHexString(hash.eval(row).asInstanceOf[Long]))
  }

  /** Returns the row's record, or the reason why there is none. It checks for nulls only. */
  def convert(row: InternalRow): Either[String, SinkRecord] =
    columns.data.payload(row) match {
      case None => Left(DataColumn.NullReason)
      case Some(payload) => keyOf(row) match {
          case None => Left("its partition key is null")
          case Some(key) => Right(new SinkRecord(key, text(row, columns.explicitHashKey), payload))
        }
    }

  /** Returns the stream in the row's stream column, if there is one. */
  def streamOf(row: InternalRow): Option[String] = text(row, columns.stream)

  /** Returns the logical stream in the row's column for it, if there is one. */
  def streamIdOf(row: InternalRow): Option[String] = text(row, columns.streamId)

  /** Without closures, because it runs up to four times for each row. */
  private def text(row: InternalRow, column: Option[Int]): Option[String] = column match {
    case Some(ordinal) if !row.isNullAt(ordinal) => Some(row.getUTF8String(ordinal).toString)
    case _ => None
  }
}

object RowToRecord {

  /** The seed of Spark's xxhash64(), so that SQL can compute the same keys. */
  private val Seed = 42L
}
