package org.sparkkinesis.spark.write

import org.apache.spark.sql.connector.write.{LogicalWriteInfo, Write, WriteBuilder}
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend

import org.sparkkinesis.config.{Options, QueryType}
import org.sparkkinesis.event.ConnectorEvent
import org.sparkkinesis.spark.connection.ReadStreams
import org.sparkkinesis.spark.error.StatementException
import org.sparkkinesis.spark.sink.{SinkWrite, WriteProgress}
import org.sparkkinesis.spark.write.route.RouteBooks

/**
 * Builds batch and streaming writes to Kinesis. Streams are written in append mode, or in update mode, where every
 * updated row becomes a record.
 *
 * @param progress
 *   the table's progress, which appears in the progress of the query
 * @param isNew
 *   returns whether an event has not been emitted yet, because each micro-batch is planned again
 * @param books
 *   the routes of logical streams
 */
final class KinesisWriteBuilder(
    options: Options,
    info: LogicalWriteInfo,
    progress: WriteProgress,
    isNew: ConnectorEvent => Boolean,
    books: RouteBooks.OfTable
) extends WriteBuilder with SupportsStreamingUpdateAsAppend {

  /** Checks options, columns and streams before any record is sent. */
  override def build(): Write = StatementException.raised {
    new SinkWrite(
      new WritePlanner(options, ReadStreams.of(info.queryId), isNew, books.of(options, optionOf))
        .plan(info.schema, info.queryId, Option.unless(ReadStreams.isOfThread(info.queryId))(QueryType.Batch)),
      progress
    )
  }

  private def optionOf(name: String): Option[String] = Option(info.options.get(name))
}
