package org.sparkkinesis.spark.sink

import org.apache.spark.TaskContext
import org.apache.spark.sparkkinesis.RunningTask
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.WriterCommitMessage

import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.event.log.EventLog
import org.sparkkinesis.event.{EventSink, RowsInvalid}
import org.sparkkinesis.metric.Sums
import org.sparkkinesis.sink.SharedTimer
import org.sparkkinesis.spark.sink.invalid.{HeldLetter, HeldLetters, InvalidRow, OnInvalidRow}

/**
 * Writes the rows of one partition. `commit` returns only after the service has stored all of them; `abort` abandons
 * the rest. For the task's thread, except [[counts]].
 */
abstract class SinkDataWriter(plan: SinkPlan, partition: Int, share: TaskShare) extends RowsWriter {
  protected val timer: SharedTimer = SharedTimer.acquire()
  protected val events: EventSink = new EventLog(plan.query)
  private val task = Option(TaskContext.get())
  private val killed = task.map(context => new KillWatch(() => context.isInterrupted(), timer))
  private var row = 0L

  /** The counts of invalid rows by their streams. */
  @volatile private var refused = Map.empty[String, WriteCounts]
  private val held = Some(plan.onInvalid).collect { case OnInvalidRow.Hold(table) =>
    new HeldLetters(table, share.letterBytes)
  }
  private var isOpen = true

  /** The stream of the first invalid row, and the reason why it is invalid. */
  private var firstInvalid: Option[(String, String)] = None

  /** Sends the row, or returns why it cannot become a record. */
  protected def send(values: InternalRow): Option[Refusal]

  /** Releases what the writer holds. Called once. */
  protected def release(): Unit

  /** The counts so far without those of invalid rows, for each stream by its name or ARN. Any thread may call it. */
  protected def sent: Map[String, WriteCounts]

  /** Sends a row to a dead-letter stream if the plan says so. A plan without such a stream returns false. */
  protected def sendLetter(row: InvalidRow): Boolean

  /** Must be called at the end of the constructor, because from then on other threads ask for counts. */
  final protected def opened(): Unit = plan.kind.writers.opened(this)

  final override def write(values: InternalRow): Unit = {
    row += 1
    whileWanted(send(values)).foreach { refusal =>
      if (firstInvalid.isEmpty) firstInvalid = Some(refusal.stream -> refusal.reason)
      invalid(InvalidRow(partition, row, refusal.stream, refusal.reason, refusal.partitionKey, refusal.data))
    }
  }

  /** Returns when all rows are stored. */
  protected def flush(): Unit

  final override protected def sendAll(): Unit = whileWanted(flush())

  final override def commit(): WriterCommitMessage = {
    sendAll()
    noteInvalid()
    WrittenPartition(counts, held.fold(Seq.empty[HeldLetter])(_.all)).message
  }

  final override def abort(): Unit = close()

  final override def close(): Unit = if (isOpen) {
    isOpen = false
    killed.foreach(_.close())
    try release()
    finally {
      timer.close()
      plan.kind.writers.closed(this)
    }
  }

  final override def currentMetricsValues(): Array[CustomTaskMetric] = counts.values(plan.kind.metrics)

  /** Returns the counts so far. Any thread may call it. */
  final def counts: WriteCounts = (sent.valuesIterator ++ refused.valuesIterator).foldLeft(WriteCounts())(_ + _)

  /** Returns the counts of each stream so far, by its name or ARN. Any thread may call it. */
  final def countsByStream: Map[String, WriteCounts] = Sums.of(sent, refused)(_ + _)

  /** The name of the query, else its id. */
  final def queryName: String = plan.query.label

  /** Makes a call that may block, and ends it if the task is killed, as when its job is cancelled. */
  private def whileWanted[A](call: => A): A = killed match {
    case None => call
    case Some(watch) =>
      task.foreach(RunningTask.endIfKilled)
      watch.watching(call)
  }

  /** Emits one event per task for any number of invalid rows. */
  private def noteInvalid(): Unit = firstInvalid.foreach { case (stream, reason) =>
    val rows = refused.valuesIterator.map(invalid => invalid.dropped + invalid.deadLettered).sum
    events.emit(RowsInvalid(stream, partition, rows, plan.onInvalid.action, reason))
  }

  private def invalid(row: InvalidRow): Unit = plan.onInvalid match {
    case OnInvalidRow.Drop => refuse(row, WriteCounts(dropped = 1))
    case OnInvalidRow.Hold(_) =>
      held.foreach(_.add(row))
      refuse(row, WriteCounts(deadLettered = 1))
    case _ if sendLetter(row) => refuse(row, WriteCounts(deadLettered = 1))
    case _ => throw SinkErrors.rowInvalid(
        reason = row.reason,
        row = row.row,
        partition = row.partition,
        stream = row.stream
      )
  }

  private def refuse(row: InvalidRow, counts: WriteCounts): Unit =
    refused = refused.updated(row.stream, refused.get(row.stream).fold(counts)(_ + counts))
}

/** Why a row cannot become a record, with what is known of the record. */
final case class Refusal(
    stream: String,
    reason: String,
    partitionKey: Option[String] = None,
    data: Option[Array[Byte]] = None
)
