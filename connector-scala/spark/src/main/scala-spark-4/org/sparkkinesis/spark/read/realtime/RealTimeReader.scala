package org.sparkkinesis.spark.read.realtime

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead.RecordStatus
import org.apache.spark.sql.connector.read.streaming.{PartitionOffset, SupportsRealTimeRead}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.execution.streaming.continuous.RateStreamPartitionOffset
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.error.RealTimeErrors
import org.sparkkinesis.plan.realtime.LiveShard
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.read.live.{LiveRead, LiveTask}
import org.sparkkinesis.spark.read.reader.{ChunkVectors, ShardTexts}
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Names the attempt of a task whose end the driver has received, in the offset that Spark takes to the driver.
 *
 * Spark reads the offset there with the class loader of the application, from the results of tasks and from heartbeats.
 * It does not have the connector's classes if the jar was added to a running session. Thus the offset is an object of
 * Spark itself, and the executor's consumers send the end of the task to the driver.
 */
object RealTimePartitionOffset {
  def apply(epoch: Long): PartitionOffset = RateStreamPartitionOffset(0, epoch, 0)

  /** Returns the epoch of the attempt. */
  def unapply(offset: PartitionOffset): Option[Long] = offset match {
    case RateStreamPartitionOffset(_, epoch, _) => Some(epoch)
    case _ => None
  }
}

/** Creates the readers of real-time batches in executors. */
final class RealTimeReaderFactory(sourceId: String, settings: ReadSettings, schema: StructType)
    extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = partition match {
    case task: LiveTask =>
      val context = TaskContext.get()
      val hosts = ConsumerHosts.ofJvm
      hosts.ensureStarted(sourceId, settings)
      val host = hosts.find(sourceId).getOrElse(throw RealTimeErrors.driverUnreachable(hosts.place._1))
      // A later attempt of the task has a higher id.
      val reading = new LiveRead(task, host, context.taskAttemptId() + 1, settings, Environment.OfJvm)
      // Spark 4.1 does not close readers of real-time batches.
      context.addTaskCompletionListener[Unit](_ => reading.close())
      new RealTimeReader(reading, schema)
    case other => throw new IllegalArgumentException(s"not a partition of a real-time batch: $other")
  }
}

/**
 * Hands the rows of a real-time task to Spark. It has both shapes of `nextWithTimeout`: Spark 4.1 calls the one with
 * one argument, and later versions call the other one.
 */
final class RealTimeReader(reading: LiveRead, schema: StructType) extends SupportsRealTimeRead[InternalRow] {
  private var shard: LiveShard = _
  private var texts: ShardTexts = _
  private var chunk: Chunk = _
  private var columns: ColumnarBatch = _

  /** @param startMillis the time of the call, which the reader does not need */
  override def nextWithTimeout(startMillis: java.lang.Long, timeoutMillis: java.lang.Long): RecordStatus =
    nextWithTimeout(timeoutMillis)

  def nextWithTimeout(timeoutMillis: java.lang.Long): RecordStatus =
    if (advance(timeoutMillis))
      RecordStatus.newStatusWithArrivalTimeMs(reading.chunk.arrivalMillis(reading.rowInChunk))
    else RecordStatus.newStatusWithoutArrivalTime(false)

  override def next(): Boolean = advance(Long.MaxValue / 1000000)

  override def get(): InternalRow = columns.getRow(reading.rowInChunk)

  override def getOffset(): PartitionOffset = RealTimePartitionOffset(reading.deliverEnd())

  override def close(): Unit = reading.close()

  private def advance(millis: Long): Boolean = {
    val more = reading.next(millis)
    if (more && (reading.chunk ne chunk)) {
      chunk = reading.chunk
      if (shard ne reading.shard) {
        shard = reading.shard
        texts = ShardTexts.of(shard.stream, shard.shard)
      }
      columns = ChunkVectors.batch(schema, texts, chunk)
    }
    more
  }
}
