package org.sparkkinesis.bench.source

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.vectorized.ColumnarBatch

import org.sparkkinesis.spark.read.reader.{KinesisInputPartition, RangesRead, RangesReader}
import org.sparkkinesis.spark.settings.KinesisSchema

/** A table over the buffer of the benchmark's consumers. Spark creates it by class name. */
final class BufferTableProvider extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = KinesisSchema.columns
  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: java.util.Map[String, String]
  ): Table = new Table with SupportsRead {
    override def name(): String = "buffer"
    override def schema(): StructType = KinesisSchema.columns
    override def capabilities(): java.util.Set[TableCapability] = java.util.EnumSet.of(TableCapability.BATCH_READ)
    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
      new ScanBuilder with SupportsPushDownRequiredColumns {
        private var required = KinesisSchema.columns
        override def pruneColumns(requiredSchema: StructType): Unit = required = requiredSchema
        override def build(): Scan = new BufferScan(required)
      }
  }
}

final private class BufferScan(columns: StructType) extends Scan with Batch {
  override def readSchema(): StructType = columns
  override def toBatch: Batch = this
  override def planInputPartitions(): Array[InputPartition] = BufferBenchmark.partitions
  override def createReaderFactory(): PartitionReaderFactory = new BufferReaderFactory(columns)
  override def columnarSupportMode(): Scan.ColumnarSupportMode = Scan.ColumnarSupportMode.SUPPORTED
}

final private class BufferReaderFactory(columns: StructType) extends PartitionReaderFactory {
  override def supportColumnarReads(partition: InputPartition): Boolean = true

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] = partition match {
    case KinesisInputPartition(ranges, _, _) =>
      new RangesReader(
        new RangesRead(ranges, BufferBenchmark.chunks, (range, _) => sys.error(s"$range is not held")),
        columns
      )
    case other => throw new IllegalArgumentException(s"not a partition of this benchmark: $other")
  }

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    throw new UnsupportedOperationException("this benchmark reads columns")
}
