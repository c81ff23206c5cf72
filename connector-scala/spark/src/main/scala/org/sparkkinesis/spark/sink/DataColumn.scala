package org.sparkkinesis.spark.sink

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{BinaryType, DataType, StringType, StructType}

import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.spark.settings.KinesisSchema

/**
 * The column `data`, which contains the payload of each record.
 *
 * @param isText
 *   whether the payload is a string, which is sent as UTF-8
 */
final case class DataColumn(ordinal: Int, isText: Boolean) {

  /** Returns the payload, or nothing if it is null. Copies bytes that Spark has not copied, because rows are reused. */
  def payload(row: InternalRow): Option[Array[Byte]] =
    if (row.isNullAt(ordinal)) None
    else if (isText) Some(row.getUTF8String(ordinal).getBytes)
    else
      Some(row match {
        case _: UnsafeRow => row.getBinary(ordinal)
        case _ => row.getBinary(ordinal).clone()
      })
}

object DataColumn {
  val NullReason: String = s"its column '${KinesisSchema.Data}' is null"

  /**
   * Finds the column.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_SINK_COLUMN_MISSING, KINESIS_SINK_COLUMN_TYPE
   */
  def of(schema: StructType): DataColumn = {
    val ordinal = find(schema, KinesisSchema.Data).getOrElse(throw SinkErrors.columnMissing(
      column = KinesisSchema.Data,
      reason = "It contains the payload.",
      columns = schema.fieldNames.mkString(", "),
      fix = "Add it, for example with selectExpr(\"to_json(struct(*)) AS data\", …)."
    ))
    val field = schema(ordinal)
    if (!isText(field.dataType) && field.dataType != BinaryType) throw SinkErrors.columnType(
      column = field.name,
      `type` = field.dataType.sql,
      expected = "BINARY or STRING",
      fix = "Convert it, for example with to_json(struct(*)), or cast it to a string."
    )
    DataColumn(ordinal, isText(field.dataType))
  }

  /** The column of this name. With `spark.sql.caseSensitive`, there may be another one whose name differs in case. */
  def find(schema: StructType, name: String): Option[Int] =
    Seq(schema.fieldNames.indexOf(name), schema.fieldNames.indexWhere(_.equalsIgnoreCase(name))).find(_ >= 0)

  def isText(dataType: DataType): Boolean = dataType.isInstanceOf[StringType]
}
