package org.sparkkinesis.spark.read.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

import org.sparkkinesis.chunk.{Chunk, ChunkBuilder}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.consume.{RangeEnd, RangeReader}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.spark.connection.ServiceFailure
import org.sparkkinesis.spark.executor.{ConsumerHost, PublisherFactories}
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * One task's ranges.
 *
 * @param locations
 *   the executor that holds them, as Spark writes it
 */
final case class KinesisInputPartition(ranges: Seq[ShardRange], locations: Array[String]) extends InputPartition {
  override def preferredLocations(): Array[String] = locations
}

/**
 * Makes readers in executors.
 *
 * @param sourceId
 *   whose consumers may hold the ranges in memory; empty for a batch read
 */
final class KinesisReaderFactory(sourceId: Option[String], settings: ReadSettings, schema: StructType)
    extends PartitionReaderFactory {
  override def supportColumnarReads(partition: InputPartition): Boolean = true

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] = partition match {
    case KinesisInputPartition(ranges, _) => new RangesReader(ranges, held, new DirectRead(_, settings, _), schema)
    case other => throw new IllegalArgumentException(s"not a partition of this source: $other")
  }

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new RowReader(createColumnarReader(partition))

  private def held(range: ShardRange): Option[IndexedSeq[Chunk]] = range.end match {
    case RangeEnd.At(number) => sourceId.flatMap(ConsumerHost.find).flatMap(_.read(range.shard, range.after, number))
    case _ => None
  }
}

/**
 * Reads a task's ranges one after the other: from memory where this JVM holds a range exactly, else from the service.
 *
 * @param held
 *   a range's chunks, when all of them are in memory
 * @param direct
 *   reads a range from the service, and counts its calls; closed after the range
 */
final private[sparkkinesis] class RangesReader(
    ranges: Seq[ShardRange],
    held: ShardRange => Option[IndexedSeq[Chunk]],
    direct: (ShardRange, ConsumerMetrics) => Iterator[Chunk] with AutoCloseable,
    schema: StructType
) extends PartitionReader[ColumnarBatch] {
  private val todo = ranges.iterator
  private var stream: UTF8String = _
  private var shard: UTF8String = _
  private var chunks: Iterator[Chunk] = Iterator.empty
  private var reading: Option[AutoCloseable] = None
  private var current: Chunk = _
  private val counters = new ReadCounters

  override def next(): Boolean = {
    while (!chunks.hasNext && todo.hasNext) open(todo.next())
    val more = chunks.hasNext
    if (more) {
      current = chunks.next()
      counters.add(current, isFromMemory = reading.isEmpty)
    }
    more
  }

  override def get(): ColumnarBatch = ChunkVectors.batch(schema, stream, shard, current)

  override def currentMetricsValues(): Array[CustomTaskMetric] = counters.values

  override def close(): Unit = {
    reading.foreach(_.close())
    reading = None
    chunks = Iterator.empty
  }

  private def open(range: ShardRange): Unit = {
    close()
    stream = UTF8String.fromString(range.stream)
    shard = UTF8String.fromString(range.shard.shard.value)
    chunks = held(range).fold {
      val read = direct(range, counters.calls)
      reading = Some(read)
      read: Iterator[Chunk]
    }(_.iterator)
  }
}

/** One range, read from the service on the task's thread. */
final private class DirectRead(range: ShardRange, settings: ReadSettings, metrics: ConsumerMetrics)
    extends Iterator[Chunk]
    with AutoCloseable {
  private val publishers = PublisherFactories.polling(settings, DirectRead.scheduler, metrics)
  private val reader = new RangeReader(
    publishers,
    range.shard,
    range.after,
    range.end,
    new ChunkBuilder(settings.decode, range.hashKeyRange, metrics),
    settings.failOnDataLoss
  )

  override def hasNext: Boolean =
    try reader.hasNext
    catch {
      case error: org.sparkkinesis.service.ServiceException =>
        throw ServiceFailure.explain(error, range.stream, settings.client(range.shard.stream))
    }

  override def next(): Chunk = reader.next()

  override def close(): Unit = {
    reader.close()
    publishers.close()
  }
}

private object DirectRead {

  /** For all tasks of this JVM, as long as it lives. */
  lazy val scheduler = new SystemScheduler("kinesis-direct-read", 2)
}

/** The same rows one by one, for plans that are not columnar. */
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
