package org.sparkkinesis.spark.sink

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}

import org.sparkkinesis.event.BatchWritten
import org.sparkkinesis.event.log.EventLog
import org.sparkkinesis.spark.sink.invalid.{DeadLetterTable, HeldLetters, LetterBudget, OnInvalidRow}

/** A checked write. Spark distributes and orders the rows as the plan requires. */
final class SinkWrite(plan: SinkPlan, progress: WriteProgress) extends Write with RequiresDistributionAndOrdering {
  override def requiredDistribution(): Distribution = plan.distribution
  override def requiredOrdering(): Array[SortOrder] = plan.ordering
  override def description: String = s"${plan.kind.format}(${plan.target})"
  override def toBatch: BatchWrite = new SinkBatchWrite(plan, progress)
  override def toStreaming: StreamingWrite = new SinkStreamingWrite(plan, progress)
  override def supportedCustomMetrics(): Array[CustomMetric] = plan.kind.metrics.toArray
}

private object SinkWrite {

  /** Commits a batch, whose records are stored already: appends the invalid rows that the tasks held. */
  def commit(
      plan: SinkPlan,
      progress: WriteProgress,
      messages: Array[WriterCommitMessage],
      epochId: Option[Long]
  ): Unit = {
    val written = WrittenPartition.all(messages)
    plan.onInvalid match {
      case OnInvalidRow.Hold(table) =>
        new DeadLetterTable(table, plan.queryId).append(written.flatMap(_.letters), epochId)
      case _ => ()
    }
    val total = written.map(_.counts).foldLeft(WriteCounts())(_ + _)
    val requests = total.requests
    val log = new EventLog(plan.query)
    log.emit(BatchWritten(epochId, requests.entriesOut, requests.requests, requests.throttled, requests.retried))
    progress.committed(total, isStreaming = epochId.nonEmpty).foreach(log.emit)
  }

  def factory(plan: SinkPlan, info: PhysicalWriteInfo): SinkWriterFactory = {
    val letterBytes = HeldLetters.bytesOfTask(LetterBudget.ofDriver, info.numPartitions)
    val context = SparkSession.active.sparkContext
    val coresPerTask = context.getConf.getInt("spark.task.cpus", 1)
    val tasks = tasksAtOnce(info.numPartitions, context.defaultParallelism, coresPerTask)
    new SinkWriterFactory(plan, TaskShare(letterBytes, tasks))
  }

  /** Returns how many of the tasks, one for each partition, the cores of all executors run at the same time. */
  def tasksAtOnce(partitions: Int, cores: Int, coresPerTask: Int): Int =
    math.max(1, math.min(partitions, cores / coresPerTask))
}

/**
 * A batch write. Rows are stored when their task commits, so a failed job leaves the records of its finished tasks
 * (at-least-once).
 */
final class SinkBatchWrite(plan: SinkPlan, progress: WriteProgress) extends BatchWrite {
  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    SinkWrite.factory(plan, info)
  override def useCommitCoordinator(): Boolean = false
  override def commit(messages: Array[WriterCommitMessage]): Unit = {
    SinkWrite.commit(plan, progress, messages, None)
    plan.ended()
  }

  /** Spark calls it also when `commit` has failed. */
  override def abort(messages: Array[WriterCommitMessage]): Unit =
    try plan.aborted()
    finally plan.ended()
  override def toString: String = s"${plan.kind.format} batch write"
}

/** A streaming write, which commits every micro-batch like a batch write. */
final class SinkStreamingWrite(plan: SinkPlan, progress: WriteProgress) extends StreamingWrite {
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory =
    SinkWrite.factory(plan, info)
  override def useCommitCoordinator(): Boolean = false
  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    SinkWrite.commit(plan, progress, messages, Some(epochId))
  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit = plan.aborted()
  override def toString: String = s"${plan.kind.format} streaming write"
}

/** Creates the writers of the tasks. Spark sends it to the executors. */
final class SinkWriterFactory(plan: SinkPlan, share: TaskShare) extends DataWriterFactory
    with StreamingDataWriterFactory {
  override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] =
    plan.newWriter(partitionId, share)
  override def createWriter(partitionId: Int, taskId: Long, epochId: Long): DataWriter[InternalRow] =
    plan.newWriter(partitionId, share)
}
