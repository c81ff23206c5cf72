package org.sparkkinesis.spark.read.reader

import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarBatch, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.spark.settings.KinesisSchema

/** The columns that have the same value in all rows of a shard. */
final private[sparkkinesis] case class ShardTexts(
    stream: UTF8String,
    arn: UTF8String,
    shard: UTF8String,
    streamId: Option[UTF8String]
)

private[sparkkinesis] object ShardTexts {
  def of(stream: String, shard: StreamShard, streamId: Option[String] = None): ShardTexts = ShardTexts(
    UTF8String.fromString(stream),
    UTF8String.fromString(shard.stream),
    UTF8String.fromString(shard.shard.value),
    streamId.map(UTF8String.fromString)
  )
}

/** Presents chunks as Spark columns without copying them. */
object ChunkVectors {

  /** Returns the columns of `schema` for the rows of `chunk`. */
  def batch(schema: StructType, of: ShardTexts, chunk: Chunk): ColumnarBatch = {
    val vectors = schema.fields.map { field =>
      (field.name match {
        case KinesisSchema.PartitionKey => new KeyVector(chunk)
        case KinesisSchema.Data => new DataVector(chunk)
        case KinesisSchema.Stream => new ConstantText(of.stream)
        case KinesisSchema.StreamArn => new ConstantText(of.arn)
        case KinesisSchema.StreamId => of.streamId.fold[ColumnVector](NoText)(new ConstantText(_))
        case KinesisSchema.ShardId => new ConstantText(of.shard)
        case KinesisSchema.SequenceNumber => new SequenceNumberVector(chunk)
        case KinesisSchema.ArrivalTimestamp => new ArrivalVector(chunk)
        case KinesisSchema.SubSequenceNumber => new SubSequenceVector(chunk)
        case KinesisSchema.ExplicitHashKey => new TextVector(chunk.explicitHashKey)
        case KinesisSchema.EncryptionType => new TextVector(chunk.encryptionType)
        case KinesisSchema.Aggregated => new AggregatedVector(chunk)
        case other => throw new IllegalArgumentException(s"a stream has no column $other")
      }): ColumnVector
    }
    new ColumnarBatch(vectors, chunk.rows)
  }

  final private class KeyVector(chunk: Chunk) extends ChunkVector(StringType) {
    override def hasNull: Boolean = true
    override def isNullAt(row: Int): Boolean = chunk.keyLength(row) < 0
    override def getUTF8String(row: Int): UTF8String =
      if (isNullAt(row)) null else UTF8String.fromBytes(chunk.keyBytes, chunk.keyStart(row), chunk.keyLength(row))
  }

  final private class DataVector(chunk: Chunk) extends ChunkVector(BinaryType) {
    override def getBinary(row: Int): Array[Byte] = chunk.data(row)
  }

  final private class SequenceNumberVector(chunk: Chunk) extends ChunkVector(StringType) {
    override def getUTF8String(row: Int): UTF8String =
      UTF8String.fromBytes(chunk.sequenceBytes, chunk.sequenceStart(row), chunk.sequenceLength(row))
  }

  final private class ArrivalVector(chunk: Chunk) extends ChunkVector(TimestampType) {

    /** Returns microseconds since the epoch, as Spark's timestamps require. */
    override def getLong(row: Int): Long = chunk.arrivalMillis(row) * 1000
  }

  final private class SubSequenceVector(chunk: Chunk) extends ChunkVector(LongType) {
    override def getLong(row: Int): Long = chunk.subSequenceNumber(row)
  }

  final private class AggregatedVector(chunk: Chunk) extends ChunkVector(BooleanType) {
    override def getBoolean(row: Int): Boolean = chunk.aggregated(row)
  }

  final private class ConstantText(text: UTF8String) extends ChunkVector(StringType) {
    override def getUTF8String(row: Int): UTF8String = text
  }

  private object NoText extends ChunkVector(StringType) {
    override def hasNull: Boolean = true
    override def isNullAt(row: Int): Boolean = true
    override def getUTF8String(row: Int): UTF8String = null
  }

  final private class TextVector(text: Int => String) extends ChunkVector(StringType) {
    override def hasNull: Boolean = true
    override def isNullAt(row: Int): Boolean = text(row) == null
    override def getUTF8String(row: Int): UTF8String = UTF8String.fromString(text(row))
  }
}

/** A vector with one of the types of a stream's columns. Spark never calls the accessors of other types. */
abstract private[reader] class ChunkVector(dataType: DataType) extends ColumnVector(dataType) {
  private def wrongType: Nothing =
    throw new UnsupportedOperationException(s"not the type of a column of ${dataType.simpleString}")

  override def close(): Unit = ()
  override def hasNull: Boolean = false
  override def numNulls: Int = 0
  override def isNullAt(row: Int): Boolean = false
  override def getBoolean(row: Int): Boolean = wrongType
  override def getByte(row: Int): Byte = wrongType
  override def getShort(row: Int): Short = wrongType
  override def getInt(row: Int): Int = wrongType
  override def getLong(row: Int): Long = wrongType
  override def getFloat(row: Int): Float = wrongType
  override def getDouble(row: Int): Double = wrongType
  override def getArray(row: Int): ColumnarArray = wrongType
  override def getMap(row: Int): ColumnarMap = wrongType
  override def getDecimal(row: Int, precision: Int, scale: Int): Decimal = wrongType
  override def getUTF8String(row: Int): UTF8String = wrongType
  override def getBinary(row: Int): Array[Byte] = wrongType
  override def getChild(ordinal: Int): ColumnVector = wrongType
}
