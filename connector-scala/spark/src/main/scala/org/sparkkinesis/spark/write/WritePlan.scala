package org.sparkkinesis.spark.write

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings}
import org.sparkkinesis.spark.connection.ReadStreams

/**
 * All that a task needs to write. Its text holds no secret.
 *
 * @param sources
 *   streams that the same query reads, and that none of its rows may go to
 */
final case class WritePlan(
    columns: WriteColumns,
    defaultStream: Option[CheckedStream],
    onInvalid: OnInvalidRow,
    connection: ClientSettings,
    settings: KinesisSinkSettings,
    queryId: String,
    query: QueryContext = QueryContext.Unknown,
    sources: ReadStreams = ReadStreams.none
) {
  def checkedStreams: Seq[CheckedStream] =
    defaultStream.toSeq ++ Some(onInvalid).collect { case OnInvalidRow.SendTo(deadLetters) => deadLetters }
}

/** What becomes of a row that cannot be a record. */
sealed trait OnInvalidRow

object OnInvalidRow {
  case object Fail extends OnInvalidRow
  case object Drop extends OnInvalidRow
  final case class SendTo(deadLetters: CheckedStream) extends OnInvalidRow

  /** Held by the tasks, and appended to this table at the commit. */
  final case class Hold(table: String) extends OnInvalidRow
}
