package org.sparkkinesis.spark.write

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings

/** All that a task needs to write. Its text holds no secret. */
final case class WritePlan(
    columns: WriteColumns,
    defaultStream: Option[CheckedStream],
    onInvalid: OnInvalidRow,
    connection: ClientSettings,
    settings: KinesisSinkSettings,
    queryId: String,
    query: QueryContext = QueryContext.Unknown
) {
  def checkedStreams: Seq[CheckedStream] =
    defaultStream.toSeq ++ Some(onInvalid).collect { case OnInvalidRow.SendTo(deadLetters) => deadLetters }
}

/** A stream that the driver has found to be there. */
final case class CheckedStream(stream: StreamRef, maxRecordBytes: Int)

/** What becomes of a row that cannot be a record. */
sealed trait OnInvalidRow

object OnInvalidRow {
  case object Fail extends OnInvalidRow
  case object Drop extends OnInvalidRow
  final case class SendTo(deadLetters: CheckedStream) extends OnInvalidRow

  /** Held by the tasks, and appended to this table at the commit. */
  final case class Hold(table: String) extends OnInvalidRow
}
