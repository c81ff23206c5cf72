package org.sparkkinesis.spark.write

import org.apache.spark.sql.types._

import org.sparkkinesis.config.value.NearestName
import org.sparkkinesis.config.{ConnectionOptions, MetadataOptions, Options, WriteOptions}
import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.spark.sink.DataColumn

/**
 * The columns of the rows by their meaning, determined on the driver from the schema and the options alone. Values
 * are positions of columns.
 *
 * @param data
 *   column of the payload
 * @param stream
 *   column with the stream of each row
 * @param streamId
 *   column with the logical stream of each row
 */
final case class WriteColumns(
    data: DataColumn,
    key: KeySource,
    explicitHashKey: Option[Int],
    stream: Option[Int],
    streamId: Option[Int] = None
)

/** The source of a row's partition key. */
sealed trait KeySource

object KeySource {

  /** The text of a column. */
  final case class Column(ordinal: Int) extends KeySource

  /** A new key for each row, which distributes the rows evenly. */
  case object Random extends KeySource

  /** A hash of columns, which is the same for equal values in all runs. */
  final case class Hash(columns: Seq[HashedColumn]) extends KeySource
  final case class HashedColumn(ordinal: Int, dataType: DataType, nullable: Boolean)
}

object WriteColumns {
  private val HashCall = "(?i)hash\\((.*)\\)".r

  /**
   * Finds the columns.
   *
   * @throws KinesisConnectorException
   *   when a column is missing or has a type that cannot be written
   */
  def of(schema: StructType, options: Options): WriteColumns =
    WriteColumns(
      DataColumn.of(schema),
      keySource(schema, options),
      find(schema, KinesisSchema.ExplicitHashKey).map(textColumn(schema, _)),
      streamColumn(schema, options).map(textColumn(schema, _)),
      streamIdColumn(schema, options).map(textColumn(schema, _))
    )

  /** Returns the column `stream` if the write ignores it because the options name the stream. */
  def ignoredStream(schema: StructType, options: Options): Option[String] =
    find(schema, KinesisSchema.Stream).filter(_ =>
      !options.isSet(WriteOptions.streamColumn) && ConnectionOptions.namedStreams(options).nonEmpty
    )
      .map(schema.fieldNames(_))

  private def streamColumn(schema: StructType, options: Options): Option[Int] =
    options.get(WriteOptions.streamColumn) match {
      case Some(name) => Some(find(schema, name).getOrElse(throw missing(
          schema,
          name,
          "Option 'streamColumn' declares it as the column with the stream of each row.",
          "Add the column, or correct the option."
        )))
      // A source has a column of this name, and a copy of its rows must not be written back to that stream.
      case None if ConnectionOptions.namedStreams(options).nonEmpty || options.isSet(MetadataOptions.metadataService) =>
        None
      case None => find(schema, KinesisSchema.Stream)
    }

  private def streamIdColumn(schema: StructType, options: Options): Option[Int] =
    // A source has a column of this name, and a copy of its rows must not be written back to that stream.
    if (!options.isSet(MetadataOptions.metadataService) || options.get(MetadataOptions.streamId).exists(_.size == 1))
      None
    else find(schema, KinesisSchema.StreamId)

  private def keySource(schema: StructType, options: Options): KeySource =
    (options.get(WriteOptions.partitionKey).map(_.trim), find(schema, KinesisSchema.PartitionKey)) match {
      case (None, Some(column)) => KeySource.Column(textColumn(schema, column))
      case (None, None) => throw missing(
          schema,
          KinesisSchema.PartitionKey,
          "Every record needs a partition key.",
          "Add the column, or set option 'partitionKey' to random, hash(column, …) or the name of another column."
        )
      case (Some(expression), _) => parse(schema, expression)
    }

  private def parse(schema: StructType, expression: String): KeySource = expression match {
    case word if word.equalsIgnoreCase("random") && find(schema, word).isEmpty => KeySource.Random
    case HashCall(columns) =>
      val names = columns.split(',').map(_.trim).filter(_.nonEmpty).toSeq
      if (names.isEmpty) throw badExpression(expression, "hash() names no column.")
      KeySource.Hash(names.map { name =>
        val ordinal = find(schema, name).getOrElse(throw badExpression(expression, noColumn(schema, name)))
        val field = schema(ordinal)
        if (!isHashable(field.dataType))
          throw badExpression(expression, s"Column '${field.name}' of type ${field.dataType.sql} has no stable hash.")
        KeySource.HashedColumn(ordinal, field.dataType, field.nullable)
      })
    case name =>
      val ordinal = find(schema, name).getOrElse(throw badExpression(expression, noColumn(schema, name)))
      KeySource.Column(textColumn(schema, ordinal))
  }

  private def find(schema: StructType, name: String): Option[Int] = DataColumn.find(schema, name)

  private def textColumn(schema: StructType, ordinal: Int): Int = {
    if (!DataColumn.isText(schema(ordinal).dataType))
      throw wrongType(schema(ordinal), "STRING", "Cast it to a string.")
    ordinal
  }

  /** Maps have no order, so equal maps may have different hashes. */
  private def isHashable(dataType: DataType): Boolean = dataType match {
    case _: MapType => false
    case array: ArrayType => isHashable(array.elementType)
    case struct: StructType => struct.forall(field => isHashable(field.dataType))
    case _ => true
  }

  private def noColumn(schema: StructType, name: String): String = {
    val nearest = NearestName.of(name, schema.fieldNames.toSeq).fold("")(found => s" Did you mean '$found'?")
    s"There is no column '$name'.$nearest"
  }

  private def missing(schema: StructType, column: String, reason: String, fix: String) = SinkErrors.columnMissing(
    column = column,
    reason = reason,
    columns = schema.fieldNames.mkString(", "),
    fix = fix
  )

  private def wrongType(field: StructField, expected: String, fix: String) = SinkErrors.columnType(
    column = field.name,
    `type` = field.dataType.sql,
    expected = expected,
    fix = fix
  )

  private def badExpression(expression: String, reason: String) =
    SinkErrors.keyExpression(expression = expression, reason = reason)
}
