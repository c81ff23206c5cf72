package org.sparkkinesis.spark.write

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend

import org.sparkkinesis.config.Options
import org.sparkkinesis.event.log.EventLog
import org.sparkkinesis.event.{BatchWritten, ConnectorEvent}
import org.sparkkinesis.spark.connection.{ReadStreams, StreamCheck}
import org.sparkkinesis.spark.write.invalid.{DeadLetterTable, HeldLetters, LetterBudget}

/**
 * Builds batch and streaming writes to Kinesis. Streams are written in append mode, or in update mode, where every
 * updated row becomes a record.
 *
 * @param progress
 *   the table's progress, which appears in the progress of the query
 * @param isNew
 *   returns whether an event has not been emitted yet, because each micro-batch is planned again
 */
final class KinesisWriteBuilder(
    options: Options,
    info: LogicalWriteInfo,
    progress: WriteProgress,
    isNew: ConnectorEvent => Boolean
) extends WriteBuilder with SupportsStreamingUpdateAsAppend {

  /** Checks options, columns and streams before any record is sent. */
  override def build(): Write =
    new KinesisWrite(
      new WritePlanner(options, ReadStreams.of(info.queryId), isNew).plan(info.schema, info.queryId),
      progress
    )
}

/** A checked write. With `ordering=key`, Spark brings the rows of a key into one task. */
final class KinesisWrite(plan: WritePlan, progress: WriteProgress) extends Write with RequiresDistributionAndOrdering {
  override def requiredDistribution(): Distribution = plan.order.distribution
  override def requiredOrdering(): Array[SortOrder] = plan.order.ordering
  override def description: String =
    s"kinesis(${plan.defaultStream.fold("streams named by the rows")(_.stream.toString)})"
  override def toBatch: BatchWrite = new KinesisBatchWrite(plan, progress)
  override def toStreaming: StreamingWrite = new KinesisStreamingWrite(plan, progress)
  override def supportedCustomMetrics(): Array[CustomMetric] = WriteMetrics.supported
}

private object KinesisWrite {

  /** Commits a batch, whose records are stored already: appends the invalid rows that the tasks held. */
  def commit(
      plan: WritePlan,
      progress: WriteProgress,
      messages: Array[WriterCommitMessage],
      epochId: Option[Long]
  ): Unit = {
    plan.onInvalid match {
      case OnInvalidRow.Hold(table) =>
        new DeadLetterTable(table, plan.queryId).append(WrittenPartition.letters(messages), epochId)
      case _ => ()
    }
    val total = WrittenPartition.total(messages)
    val requests = total.sink.requests
    val log = new EventLog(plan.query)
    log.emit(BatchWritten(epochId, requests.entriesOut, requests.requests, requests.throttled, requests.retried))
    progress.committed(total, isStreaming = epochId.nonEmpty).foreach(log.emit)
  }

  /** Lets the next batch describe the streams again, because one may have been deleted. */
  def abort(plan: WritePlan): Unit =
    plan.checkedStreams.foreach(found => StreamCheck.forget(found.stream, plan.connection))

  def factory(plan: WritePlan, info: PhysicalWriteInfo): KinesisWriterFactory = {
    val letterBytes = HeldLetters.bytesOfTask(LetterBudget.ofDriver, info.numPartitions)
    new KinesisWriterFactory(plan, TaskShare(letterBytes, tasksAtOnce(info.numPartitions)))
  }

  /** The number of tasks that the cores of all executors can run at the same time. */
  private def tasksAtOnce(partitions: Int): Int = {
    val context = SparkSession.active.sparkContext
    val slots = context.defaultParallelism / context.getConf.getInt("spark.task.cpus", 1)
    math.max(1, math.min(partitions, slots))
  }
}

/**
 * A batch write. Rows are stored when their task commits, so a failed job leaves the records of its finished tasks
 * (at-least-once).
 */
final class KinesisBatchWrite(plan: WritePlan, progress: WriteProgress) extends BatchWrite {
  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    KinesisWrite.factory(plan, info)
  override def useCommitCoordinator(): Boolean = false
  override def commit(messages: Array[WriterCommitMessage]): Unit = KinesisWrite.commit(plan, progress, messages, None)
  override def abort(messages: Array[WriterCommitMessage]): Unit = KinesisWrite.abort(plan)
  override def toString: String = "KinesisBatchWrite"
}

/** A streaming write, which commits every micro-batch like a batch write. */
final class KinesisStreamingWrite(plan: WritePlan, progress: WriteProgress) extends StreamingWrite {
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory =
    KinesisWrite.factory(plan, info)
  override def useCommitCoordinator(): Boolean = false
  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    KinesisWrite.commit(plan, progress, messages, Some(epochId))
  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit = KinesisWrite.abort(plan)
  override def toString: String = "KinesisStreamingWrite"
}

/** Creates the writers of the tasks. Spark sends it to the executors. */
final class KinesisWriterFactory(plan: WritePlan, share: TaskShare) extends DataWriterFactory
    with StreamingDataWriterFactory {
  override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] =
    new KinesisDataWriter(plan, partitionId, share)
  override def createWriter(partitionId: Int, taskId: Long, epochId: Long): DataWriter[InternalRow] =
    new KinesisDataWriter(plan, partitionId, share)
}
