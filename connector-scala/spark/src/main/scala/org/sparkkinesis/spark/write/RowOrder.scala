package org.sparkkinesis.spark.write

import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.connector.distributions.{Distribution, Distributions}
import org.apache.spark.sql.connector.expressions._
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.value.{NearestName, OrderColumn, WriteOrdering}
import org.sparkkinesis.config.{Options, WriteOptions}
import org.sparkkinesis.error.{OptionErrors, SinkErrors}

/**
 * Distribution and order of rows that a write requires for its tasks.
 *
 * @param clusteredBy
 *   columns whose equal values must be in one task; empty for no requirement
 * @param sortedBy
 *   order of the rows in each task; empty for no requirement
 */
final case class RowOrder(clusteredBy: Seq[String], sortedBy: Seq[OrderColumn]) {
  import RowOrder._

  def distribution: Distribution =
    if (clusteredBy.isEmpty) Distributions.unspecified()
    else Distributions.clustered(clusteredBy.map(name => reference(name): Expression).toArray)

  def ordering: Array[SortOrder] = sortedBy.map { column =>
    val direction = if (column.ascending) SortDirection.ASCENDING else SortDirection.DESCENDING
    Expressions.sort(reference(column.name), direction)
  }.toArray

  override def toString: String = Seq("rows clustered by " -> clusteredBy, "rows sorted by " -> sortedBy).collect {
    case (text, columns) if columns.nonEmpty => text + columns.mkString(", ")
  }.mkString(", ")
}

object RowOrder {

  /**
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_CONFLICT, KINESIS_SINK_COLUMN_MISSING, KINESIS_SINK_COLUMN_TYPE
   */
  def of(schema: StructType, key: KeySource, options: Options): RowOrder = {
    val ordering = options(WriteOptions.ordering)
    val distributes = options.get(WriteOptions.distributeByKey).getOrElse(ordering == WriteOrdering.ByKey)
    val sortedBy = options.get(WriteOptions.orderBy).getOrElse(Nil)
    if (sortedBy.nonEmpty && ordering == WriteOrdering.Unordered)
      throw OptionErrors.conflict(
        options = "'orderBy' and 'ordering=none'",
        reason = "Without an ordering, the sink does not keep the order of sorted rows.",
        fix = "Set 'ordering' to key or bestEffort, or remove 'orderBy'."
      )
    RowOrder(if (distributes) keyColumns(schema, key) else Nil, sortedBy.map(found(schema, _)))
  }

  /** Rows with equal values in these columns have the same key. */
  private def keyColumns(schema: StructType, key: KeySource): Seq[String] = key match {
    case KeySource.Column(ordinal) => Seq(schema.fieldNames(ordinal))
    case KeySource.Hash(columns) => columns.map(column => schema.fieldNames(column.ordinal))
    case KeySource.Random => Nil
  }

  private def found(schema: StructType, column: OrderColumn): OrderColumn = {
    val field = schema.find(_.name.equalsIgnoreCase(column.name)).getOrElse {
      val nearest = NearestName.of(column.name, schema.fieldNames.toSeq)
      throw SinkErrors.columnMissing(
        column = column.name,
        reason = "Option 'orderBy' names it.",
        columns = schema.fieldNames.mkString(", "),
        fix = nearest.fold("Add the column, or correct the option.")(name => s"Did you mean '$name'?")
      )
    }
    if (!RowOrdering.isOrderable(field.dataType)) throw SinkErrors.columnType(
      column = field.name,
      `type` = field.dataType.sql,
      expected = "a type with an order",
      fix = "Sort by another column."
    )
    column.copy(name = field.name)
  }

  private def reference(name: String): NamedReference = Expressions.column(s"`${name.replace("`", "``")}`")
}
