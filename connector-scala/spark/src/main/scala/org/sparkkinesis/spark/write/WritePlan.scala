package org.sparkkinesis.spark.write

import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings}
import org.sparkkinesis.spark.connection.{ReadStreams, StreamCheck}
import org.sparkkinesis.spark.sink.invalid.OnInvalidRow
import org.sparkkinesis.spark.sink.{SinkDataWriter, SinkKind, SinkPlan, TaskShare}

/**
 * The settings with which a task writes. `toString` contains no secret.
 *
 * @param sources
 *   the streams that the same query reads, to which none of its rows may be written
 */
final case class WritePlan(
    columns: WriteColumns,
    order: RowOrder,
    defaultStream: Option[CheckedStream],
    onInvalid: OnInvalidRow,
    connection: ClientSettings,
    settings: KinesisSinkSettings,
    queryId: String,
    query: QueryContext = QueryContext.Unknown,
    sources: ReadStreams = ReadStreams.none
) extends SinkPlan {
  override def kind: SinkKind = KinesisSink
  override def target: String = defaultStream.fold("streams named by the rows")(_.stream.toString)
  override def distribution: Distribution = order.distribution
  override def ordering: Array[SortOrder] = order.ordering

  override def newWriter(partition: Int, share: TaskShare): SinkDataWriter =
    new KinesisDataWriter(this, partition, share)

  /** Lets the next batch describe the streams again, because one may have been deleted. */
  override def aborted(): Unit = checkedStreams.foreach(found => StreamCheck.forget(found.stream, connection))

  def checkedStreams: Seq[CheckedStream] =
    defaultStream.toSeq ++ Some(onInvalid).collect { case SendInvalidRow(deadLetters) => deadLetters }
}

/** The writer sends invalid rows to a stream. */
final case class SendInvalidRow(deadLetters: CheckedStream) extends OnInvalidRow {
  override def action: String = s"sent to the dead-letter stream ${deadLetters.stream.name}"
}
