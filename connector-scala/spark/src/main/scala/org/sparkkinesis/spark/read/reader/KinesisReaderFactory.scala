package org.sparkkinesis.spark.read.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * The ranges that one task reads.
 *
 * @param locations
 *   the executor that has them in its buffer, in Spark's format
 * @param streamIds
 *   the logical stream of each physical one by its ARN
 */
final case class KinesisInputPartition(
    ranges: Seq[ShardRange],
    locations: Array[String],
    streamIds: Map[String, String] = Map.empty
) extends InputPartition {
  override def preferredLocations(): Array[String] = locations
}

/**
 * Creates readers in executors.
 *
 * @param sourceId
 *   the source whose consumers may have the ranges in memory; empty for a batch read
 */
final class KinesisReaderFactory(sourceId: Option[String], settings: ReadSettings, schema: StructType)
    extends PartitionReaderFactory {
  override def supportColumnarReads(partition: InputPartition): Boolean = true

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] = partition match {
    case KinesisInputPartition(ranges, _, streamIds) =>
      new RangesReader(
        RangesRead(ranges, sourceId, settings, ConsumerHosts.ofJvm, Environment.OfJvm),
        schema,
        streamIds
      )
    case other => throw new IllegalArgumentException(s"not a partition of this source: $other")
  }

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new RowReader(createColumnarReader(partition))
}

/** Reads a task's ranges as columns. */
final private[sparkkinesis] class RangesReader(
    reading: RangesRead,
    schema: StructType,
    streamIds: Map[String, String] = Map.empty
) extends PartitionReader[ColumnarBatch] {
  private var range: ShardRange = _
  private var texts: ShardTexts = _
  private val counters = new ReadCounters(reading.metrics)

  override def next(): Boolean = {
    val more = reading.next()
    if (more) {
      if (reading.range ne range) {
        range = reading.range
        texts = ShardTexts.of(range.stream, range.shard, streamIds.get(range.shard.stream))
      }
      counters.add(reading.chunk, reading.isFromMemory)
    }
    more
  }

  override def get(): ColumnarBatch = ChunkVectors.batch(schema, texts, reading.chunk)
  override def currentMetricsValues(): Array[CustomTaskMetric] = counters.values
  override def close(): Unit = reading.close()
}

/** Reads the same rows one by one, for plans that are not columnar. */
final private class RowReader(batches: PartitionReader[ColumnarBatch]) extends PartitionReader[InternalRow] {
  private var rows: java.util.Iterator[InternalRow] = java.util.Collections.emptyIterator[InternalRow]()

  override def next(): Boolean = {
    while (!rows.hasNext && batches.next()) rows = batches.get().rowIterator()
    rows.hasNext
  }

  override def get(): InternalRow = rows.next()
  override def currentMetricsValues(): Array[CustomTaskMetric] = batches.currentMetricsValues()
  override def close(): Unit = batches.close()
}
