package org.sparkkinesis.spark.write

import java.util.concurrent.ThreadLocalRandom

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeRow, XxHash64}

import org.sparkkinesis.sink.kinesis.put.SinkRecord

/** Converts rows to records, for one task. It copies payloads that Spark has not copied, because Spark reuses rows. */
final class RowToRecord(columns: WriteColumns) {
  import RowToRecord._

  private val keyOf: InternalRow => Option[String] = columns.key match {
    case KeySource.Column(ordinal) => row => Option.when(!row.isNullAt(ordinal))(row.getUTF8String(ordinal).toString)
    case KeySource.Random => _ => Some(java.lang.Long.toHexString(ThreadLocalRandom.current().nextLong()))
    case KeySource.Hash(hashed) =>
      val hash = XxHash64(hashed.map(column => BoundReference(column.ordinal, column.dataType, column.nullable)), Seed)
      row => Some(java.lang.Long.toHexString(hash.eval(row).asInstanceOf[Long]))
  }

  /** Returns the row's record, or the reason why there is none. It checks for nulls only. */
  def convert(row: InternalRow): Either[String, SinkRecord] =
    if (row.isNullAt(columns.data)) Left("its column 'data' is null")
    else
      keyOf(row) match {
        case None => Left("its partition key is null")
        case Some(key) => Right(new SinkRecord(key, text(row, columns.explicitHashKey), payload(row)))
      }

  /** Returns the stream in the row's stream column, if there is one. */
  def streamOf(row: InternalRow): Option[String] = text(row, columns.stream)

  private def text(row: InternalRow, column: Option[Int]): Option[String] =
    column.filterNot(row.isNullAt).map(row.getUTF8String(_).toString)

  private def payload(row: InternalRow): Array[Byte] =
    if (columns.dataIsText) row.getUTF8String(columns.data).getBytes
    else
      row match {
        case _: UnsafeRow => row.getBinary(columns.data)
        case _ => row.getBinary(columns.data).clone()
      }
}

object RowToRecord {

  /** The seed of Spark's xxhash64(), so that SQL can compute the same keys. */
  private val Seed = 42L
}
