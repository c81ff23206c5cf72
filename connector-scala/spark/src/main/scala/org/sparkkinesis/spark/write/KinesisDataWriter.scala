package org.sparkkinesis.spark.write

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, WriterCommitMessage}

import org.sparkkinesis.aws.client.KinesisClients
import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.event.log.EventLog
import org.sparkkinesis.event.{EventSink, RowsInvalid}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.sink.kinesis.{
  AutoDistributionException, KinesisStreamSink, RecordRules, SinkRecord, StreamRouter
}
import org.sparkkinesis.sink.{DeliveryFailedException, FatalSinkException, SharedTimer}
import org.sparkkinesis.spark.connection.ServiceFailure
import org.sparkkinesis.spark.write.invalid.{DeadLetter, HeldLetter, HeldLetters, InvalidRow}

/** Writes one partition's rows. `commit` returns only when the service has stored all of them; `abort` gives up the rest. */
final class KinesisDataWriter(plan: WritePlan, partition: Int) extends DataWriter[InternalRow] {
  private val timer = SharedTimer.acquire()
  private val events: EventSink = new EventLog(plan.query)
  private val router =
    new StreamRouter(KinesisDataWriter.open(plan, _, timer, events), KinesisDataWriter.explain(plan, _, _))
  private val toRecord = new RowToRecord(plan.columns)
  private var row = 0L
  @volatile private var dropped = 0L
  @volatile private var deadLettered = 0L
  private val held = Some(plan.onInvalid).collect { case OnInvalidRow.Hold(table) => new HeldLetters(table) }
  private var isOpen = true

  /** The stream of the first invalid row, and why that row is invalid. */
  private var firstInvalid: Option[(String, String)] = None
  WriterTotals.opened(this)

  override def write(values: InternalRow): Unit = {
    row += 1
    val stream = toRecord.streamOf(values) match {
      case Some(name) =>
        StreamRef.parse(name).toRight("its column 'stream' holds neither the name nor the ARN of a stream")
      case None => plan.defaultStream.map(_.stream).toRight("its column 'stream' is null, and no option names a stream")
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

  /** What was written so far; from any thread. */
  def counts: WriteCounts = WriteCounts(router.metrics, dropped, deadLettered)

  /** One event for the task, however many rows were invalid. */
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
  private def open(plan: WritePlan, stream: StreamRef, timer: Scheduler, events: EventSink): StreamRouter.Target = {
    val checked =
      plan.checkedStreams.find(_.stream == stream).getOrElse(WritePlanner.describe(stream, plan.connection, plan.query))
    val connection = plan.connection.forStream(stream)
    val lease = KinesisClients.shared.acquire(connection)
    try {
      val where = s"${connection.endpoint.getOrElse("")} ${connection.region.getOrElse("")}"
      val sink = KinesisStreamSink.open(lease.service, stream, where, plan.settings, timer, events)
      new StreamRouter.Target(sink, RecordRules(checked.maxRecordBytes), () => lease.close())
    } catch {
      case failure: Throwable =>
        lease.close()
        throw failure
    }
  }

  /** The user's condition for a failure of writing to the stream. */
  private def explain(plan: WritePlan, stream: StreamRef, failure: Throwable): Throwable = failure match {
    case fatal: FatalSinkException => explain(plan, stream, fatal.getCause)
    case auto: AutoDistributionException =>
      SinkErrors.autoDistribution(stream = stream.name, option = auto.option).causedBy(auto)
    case error: ServiceException => ServiceFailure.explain(error, stream.name, plan.connection.forStream(stream))
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

/** What a task tells the driver when its rows are stored. */
final case class WrittenPartition(counts: WriteCounts, letters: Seq[HeldLetter] = Nil) extends WriterCommitMessage

object WrittenPartition {
  def letters(messages: Array[WriterCommitMessage]): Seq[HeldLetter] =
    messages.iterator.collect { case written: WrittenPartition => written.letters }.flatten.toSeq

  /** Of all tasks; those that did not commit are null. */
  def total(messages: Array[WriterCommitMessage]): WriteCounts =
    messages.iterator.collect { case written: WrittenPartition => written.counts }.foldLeft(WriteCounts())(_ + _)
}
