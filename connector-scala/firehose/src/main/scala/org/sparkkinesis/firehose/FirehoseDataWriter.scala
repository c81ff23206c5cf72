package org.sparkkinesis.firehose

import org.apache.spark.sql.catalyst.InternalRow

import org.sparkkinesis.aws.client.{SdkClients, ServiceClients}
import org.sparkkinesis.model.FirehoseQuotas
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.spark.sink.invalid.InvalidRow
import org.sparkkinesis.spark.sink.{
  DataColumn, Refusal, SinkDataWriter, SinkKind, TaskShare, WriteCounts, WriteFailure, WriteMetric, WriteMetrics,
  WriteSum
}

/** Writes the rows of one partition to the delivery stream. */
final class FirehoseDataWriter(plan: FirehosePlan, partition: Int, share: TaskShare)
    extends SinkDataWriter(plan, partition, share) {
  private val requests = plan.settings.requests
  private val lease = FirehoseDataWriter.clients.acquire(plan.connection)
  private val limits = FirehoseLimits.OfJvm.acquire(plan, share.tasksAtOnce, events, timer)
  private val writer = new AsyncSinkWriter[Array[Byte]](
    new FirehoseDestination(lease.service, plan.stream, plan.settings.rules, events),
    limits.strategy.open(),
    requests,
    requests.newBounds,
    timer,
    delivery = limits.delivery,
    report = () => limits.report()
  )
  opened()

  override protected def send(values: InternalRow): Option[Refusal] = plan.data.payload(values) match {
    case None => Some(Refusal(plan.stream, DataColumn.NullReason))
    case Some(data) if data.length > FirehoseQuotas.Record.MaxBytes =>
      val reason = s"it has ${data.length} bytes, a delivery stream accepts ${FirehoseQuotas.Record.MaxBytes}"
      Some(Refusal(plan.stream, reason, data = Some(data)))
    case Some(data) =>
      explaining(writer.write(data))
      None
  }

  override protected def flush(): Unit = explaining(writer.flush())
  override protected def sent: Map[String, WriteCounts] = Map(plan.stream -> WriteCounts(writer.metrics))

  /** Invalid rows go to a table only, which the base class handles. */
  override protected def sendLetter(row: InvalidRow): Boolean = false

  override protected def release(): Unit =
    try writer.close()
    finally {
      FirehoseLimits.OfJvm.release(plan, events, timer)
      lease.close()
    }

  private def explaining(body: => Unit): Unit =
    try body
    catch {
      case interrupted: InterruptedException => throw interrupted
      case failure: Exception => throw WriteFailure.explain(failure, plan.stream, plan.connection)
    }
}

private object FirehoseDataWriter {

  /** The clients that all writers of this JVM share. */
  lazy val clients: ServiceClients[FirehoseService] = ServiceClients.ofJvm(settings =>
    new JsonFirehoseService(SdkClients.firehose(settings))
  )
}

/** The sink for Amazon Data Firehose. */
object FirehoseSink extends SinkKind("firehose") {
  override val metrics: Seq[WriteMetric] = WriteMetrics.common :+ new PutRecordBatchRequests
}

/** Spark creates this class by name for the SQL tab, so it has an empty constructor. */
class PutRecordBatchRequests extends WriteSum("putRecordBatchRequests", "PutRecordBatch requests") {
  override def of(written: WriteCounts): Long = written.requests.requests
}
