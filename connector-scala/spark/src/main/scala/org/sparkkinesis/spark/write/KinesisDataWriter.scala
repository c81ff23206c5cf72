package org.sparkkinesis.spark.write

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, WriterCommitMessage}

import org.sparkkinesis.aws.client.KinesisClients
import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.event.log.EventLog
import org.sparkkinesis.event.{EventSink, RowsInvalid}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{
  AutoDistributionException, CheckedStream, KinesisStreamSink, SinkProcess, StreamRouter
}
import org.sparkkinesis.sink.{
  DeliveryFailedException, FatalSinkException, RateLimitingFailedException, SharedTimer, SinkBounds
}
import org.sparkkinesis.spark.connection.{ServiceFailure, StreamCheck}
import org.sparkkinesis.spark.write.invalid.{DeadLetter, HeldLetter, HeldLetters, InvalidRow}

/**
 * Writes the rows of one partition. `commit` returns only after the service has stored all of them; `abort` abandons
 * the rest. For the task's thread, except [[counts]].
 */
final class KinesisDataWriter(plan: WritePlan, partition: Int, share: TaskShare) extends DataWriter[InternalRow] {
  private val timer = SharedTimer.acquire()
  private val events: EventSink = new EventLog(plan.query)
  private val bounds = plan.settings.newBounds
  private val router = new StreamRouter(
    KinesisDataWriter.check(plan, _),
    KinesisDataWriter.open(plan, _, bounds, new SinkProcess(timer, senders = share.tasksAtOnce), events),
    KinesisDataWriter.explain(plan, _, _)
  )
  private val toRecord = new RowToRecord(plan.columns)
  private var row = 0L
  @volatile private var dropped = 0L
  @volatile private var deadLettered = 0L
  private val held = Some(plan.onInvalid).collect { case OnInvalidRow.Hold(table) =>
    new HeldLetters(table, share.letterBytes)
  }
  private var isOpen = true

  /** The stream of the first invalid row, and the reason why it is invalid. */
  private var firstInvalid: Option[(String, String)] = None
  WriterTotals.opened(this)

  override def write(values: InternalRow): Unit = {
    row += 1
    val stream = toRecord.streamOf(values) match {
      case Some(name) =>
        StreamRef.parse(name).toRight("the column of its stream contains neither the name nor the ARN of a stream")
      case None =>
        plan.defaultStream.map(_.stream).toRight("the column of its stream is null, and no option names a stream")
    }
    (stream, toRecord.convert(values)) match {
      case (Right(to), Right(record)) => router.rules(to).violation(record) match {
          case None => router.write(to, record)
          case Some(reason) => invalid(to.toString, reason, Some(record))
        }
      case (Left(reason), record) => invalid("(none)", reason, record.toOption)
      case (Right(to), Left(reason)) => invalid(to.toString, reason, None)
    }
  }

  override def commit(): WriterCommitMessage = {
    router.flush()
    noteInvalid()
    WrittenPartition(counts, held.fold(Seq.empty[HeldLetter])(_.all))
  }

  override def abort(): Unit = close()

  override def close(): Unit = if (isOpen) {
    isOpen = false
    try router.close()
    finally {
      timer.close()
      WriterTotals.closed(this)
    }
  }

  override def currentMetricsValues(): Array[CustomTaskMetric] = counts.taskMetrics

  /** Returns the counts so far. Any thread may call it. */
  def counts: WriteCounts = WriteCounts(router.metrics, dropped, deadLettered)

  /** Emits one event per task for any number of invalid rows. */
  private def noteInvalid(): Unit = firstInvalid.foreach { case (stream, reason) =>
    val action = plan.onInvalid match {
      case OnInvalidRow.SendTo(letters) => s"sent to the dead-letter stream ${letters.stream.name}"
      case OnInvalidRow.Hold(table) => s"held for the dead-letter table $table"
      case _ => "dropped"
    }
    events.emit(RowsInvalid(stream, partition, dropped + deadLettered, action, reason))
  }

  private def invalid(stream: String, reason: String, record: Option[SinkRecord]): Unit = {
    if (firstInvalid.isEmpty) firstInvalid = Some(stream -> reason)
    handle(stream, reason, record)
  }

  private def handle(stream: String, reason: String, record: Option[SinkRecord]): Unit = plan.onInvalid match {
    case OnInvalidRow.Drop => dropped += 1
    case OnInvalidRow.SendTo(letters) =>
      val facts = InvalidRow(partition, row, stream, reason, record)
      router.write(letters.stream, DeadLetter.of(facts, plan.queryId, letters.maxRecordBytes))
      deadLettered += 1
    case OnInvalidRow.Hold(_) =>
      held.foreach(_.add(InvalidRow(partition, row, stream, reason, record)))
      deadLettered += 1
    case OnInvalidRow.Fail =>
      throw SinkErrors.rowInvalid(reason = reason, row = row, partition = partition, stream = stream)
  }
}

object KinesisDataWriter {
  private def check(plan: WritePlan, stream: StreamRef): CheckedStream =
    plan.checkedStreams.find(_.stream == stream).getOrElse {
      val found = StreamCheck.check(stream, plan.connection, plan.settings, plan.query)
      plan.sources.refuse(found)
      found
    }

  private def open(
      plan: WritePlan,
      stream: CheckedStream,
      bounds: SinkBounds,
      process: SinkProcess,
      events: EventSink
  ): StreamRouter.Target = {
    val lease = KinesisClients.shared.acquire(plan.connection.forStream(stream.stream))
    try {
      val sink = KinesisStreamSink.open(lease.service, stream, plan.settings, bounds, process, events)
      new StreamRouter.Target(stream, sink, () => lease.close())
    } catch {
      case failure: Throwable =>
        lease.close()
        throw failure
    }
  }

  /** Returns the error, with a condition, for a failed write to the stream. */
  private def explain(plan: WritePlan, to: CheckedStream, failure: Throwable): Throwable = {
    val stream = to.stream
    failure match {
      case fatal: FatalSinkException => explain(plan, to, fatal.getCause)
      case auto: AutoDistributionException =>
        SinkErrors.autoDistribution(stream = stream.name, option = auto.option).causedBy(auto)
      case strategy: RateLimitingFailedException =>
        SinkErrors.rateLimitingFailed(stream = stream.name, reason = strategy.getMessage).causedBy(strategy)
      case error: ServiceException =>
        if (error.kind == ServiceErrorKind.ResourceNotFound) StreamCheck.forget(stream, plan.connection)
        ServiceFailure.explain(error, stream.name, plan.connection.forStream(stream))
      case late: DeliveryFailedException =>
        SinkErrors.deliveryFailed(
          stream = stream.name,
          attempts = late.attempts,
          waited = late.waitedMillis,
          lastReason = if (late.lastReason.isEmpty) "none" else late.lastReason
        ).causedBy(late)
      case other => other
    }
  }
}

/** The message of a task to the driver after its rows are stored. */
final case class WrittenPartition(counts: WriteCounts, letters: Seq[HeldLetter] = Nil) extends WriterCommitMessage

object WrittenPartition {
  def letters(messages: Array[WriterCommitMessage]): Seq[HeldLetter] =
    messages.iterator.collect { case written: WrittenPartition => written.letters }.flatten.toSeq

  /** Returns the sum over all tasks. The message of a task that did not commit is null. */
  def total(messages: Array[WriterCommitMessage]): WriteCounts =
    messages.iterator.collect { case written: WrittenPartition => written.counts }.foldLeft(WriteCounts())(_ + _)
}
