package org.sparkkinesis.spark.write

import org.apache.spark.sql.catalyst.InternalRow

import org.sparkkinesis.aws.client.KinesisClients
import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.SinkBounds
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{
  AutoDistributionException, CheckedStream, KinesisStreamSink, SinkProcess, StreamRouter
}
import org.sparkkinesis.spark.connection.StreamCheck
import org.sparkkinesis.spark.sink.invalid.InvalidRow
import org.sparkkinesis.spark.sink.{Refusal, SinkDataWriter, TaskShare, WriteCounts, WriteFailure}

/** Writes the rows of one partition to the streams that they name. */
final class KinesisDataWriter(plan: WritePlan, partition: Int, share: TaskShare)
    extends SinkDataWriter(plan, partition, share) {
  private val bounds = plan.settings.newBounds
  private val router = new StreamRouter(
    KinesisDataWriter.check(plan, _),
    KinesisDataWriter.open(plan, _, bounds, new SinkProcess(timer, senders = share.tasksAtOnce), events),
    KinesisDataWriter.explain(plan, _, _)
  )
  private val toRecord = new RowToRecord(plan.columns)
  opened()

  override protected def send(values: InternalRow): Option[Refusal] = {
    val stream = toRecord.streamOf(values) match {
      case Some(name) =>
        StreamRef.parse(name).toRight("the column of its stream contains neither the name nor the ARN of a stream")
      case None =>
        plan.defaultStream.map(_.stream).toRight("the column of its stream is null, and no option names a stream")
    }
    (stream, toRecord.convert(values)) match {
      case (Right(to), Right(record)) => router.rules(to).violation(record) match {
          case None =>
            router.write(to, record)
            None
          case Some(reason) => Some(refusal(to.toString, reason, Some(record)))
        }
      case (Left(reason), record) => Some(refusal("(none)", reason, record.toOption))
      case (Right(to), Left(reason)) => Some(refusal(to.toString, reason, None))
    }
  }

  override protected def flush(): Unit = router.flush()
  override protected def release(): Unit = router.close()

  override protected def sent: WriteCounts = {
    val metrics = router.metrics
    WriteCounts(metrics.requests, shards = metrics.shards)
  }

  override protected def sendLetter(row: InvalidRow): Boolean = plan.onInvalid match {
    case SendInvalidRow(letters) =>
      router.write(letters.stream, DeadLetter.of(row, plan.queryId, letters.maxRecordBytes))
      true
    case _ => false
  }

  private def refusal(stream: String, reason: String, record: Option[SinkRecord]): Refusal =
    Refusal(stream, reason, record.map(_.partitionKey), record.map(_.data))
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
    WriteFailure.reason(failure) match {
      case auto: AutoDistributionException =>
        SinkErrors.autoDistribution(stream = stream.name, option = auto.option).causedBy(auto)
      case error: ServiceException if error.kind == ServiceErrorKind.ResourceNotFound =>
        StreamCheck.forget(stream, plan.connection)
        WriteFailure.explain(error, stream.name, plan.connection.forStream(stream))
      case other => WriteFailure.explain(other, stream.name, plan.connection.forStream(stream))
    }
  }
}
