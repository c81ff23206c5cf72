package org.sparkkinesis.spark.write

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings}
import org.sparkkinesis.spark.connection.ReadStreams

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
) {
  def checkedStreams: Seq[CheckedStream] =
    defaultStream.toSeq ++ Some(onInvalid).collect { case OnInvalidRow.SendTo(deadLetters) => deadLetters }
}

/** The handling of a row that cannot become a record. */
sealed trait OnInvalidRow

object OnInvalidRow {
  case object Fail extends OnInvalidRow
  case object Drop extends OnInvalidRow
  final case class SendTo(deadLetters: CheckedStream) extends OnInvalidRow

  /** The tasks hold the rows, and the commit appends them to this table. */
  final case class Hold(table: String) extends OnInvalidRow
}

/**
 * What the driver allows each task of a write.
 *
 * @param letterBytes
 *   maximum number of bytes of the invalid rows that the task holds
 * @param tasksAtOnce
 *   number of tasks that write at the same time, in all executors
 */
final case class TaskShare(letterBytes: Int, tasksAtOnce: Int)
