package org.sparkkinesis.spark.write

import org.apache.spark.sql.types.StructType

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.config.value.OnInvalidRecord
import org.sparkkinesis.config.{
  ConfigEntry, ConnectionOptions, ConnectorVersion, Options, QueryType, ReadOptions, StreamSelection, WriteOptions
}
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.event.log.EventLog
import org.sparkkinesis.event.{
  ConnectorEvent, EventSink, OptionWithoutEffect, StreamColumnIgnored, WritePlanned, WriteStarted
}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings, KnownStreams}
import org.sparkkinesis.sink.route.StreamSelectors
import org.sparkkinesis.spark.connection.{Connection, OptionEffects, ReadStreams, StreamCheck}
import org.sparkkinesis.spark.sink.SinkPlan
import org.sparkkinesis.spark.sink.invalid.{DeadLetterTable, OnInvalidRow}
import org.sparkkinesis.spark.write.route.RouteBooks

/**
 * Checks on the driver everything that can be checked before the first record is sent: options, columns and streams.
 *
 * @param sources
 *   the streams that the same query reads
 * @param isNew
 *   returns whether an event has not been emitted yet, because each micro-batch is planned again
 * @param books
 *   the routes of logical streams
 */
final class WritePlanner(
    options: Options,
    sources: ReadStreams,
    isNew: ConnectorEvent => Boolean,
    books: RouteBooks
) {

  /**
   * Plans a write.
   *
   * @param queryType
   *   type of the query; empty for a streaming query of any type
   * @throws KinesisConnectorException
   *   for the first problem
   */
  def plan(schema: StructType, queryId: String, queryType: Option[QueryType]): WritePlan = {
    val columns = WriteColumns.of(schema, options)
    val order = RowOrder.of(schema, columns.key, options)
    val settings = KinesisSinkSettings.of(options)
    SinkPlan.checkStrategy(options)
    checkRouter(settings)
    val isLogical = RouteBooks.isWanted(options, columns.streamId)
    val stream = if (isLogical) None else defaultStream(columns)
    val query = SinkPlan.context(queryId, stream.map(_.toString))
    val events: EventSink = new EventLog(query)
    noteIgnoredColumn(schema, columns, stream, events)
    noteWithoutEffect(columns, isLogical, queryType, events)
    if (!isLogical && columns.stream.isEmpty)
      Connection.checkStreams(
        options,
        stream.toSeq ++ options.get(WriteOptions.deadLetterStream).toSeq.flatten,
        ReadOptions.ofStreamOfWrite
      )
    val routing = Option.when(isLogical)(books.pin(queryId, columns.streamId.nonEmpty, events))
    def connectionOf(of: StreamRef): ClientSettings = Connection.clientSettings(options, Some(of))
    def check(of: StreamRef): CheckedStream =
      StreamCheck.check(of, connectionOf(of), settings, query, KnownStreams.Planner)
    val plan = WritePlan(
      columns,
      order,
      stream.map(check),
      onInvalid(check, queryId),
      Connection.general(options),
      settings,
      queryId,
      query,
      sources,
      ownConnections(connectionOf),
      routing
    )
    plan.checkedStreams.foreach(sources.refuse)
    val logical = routing.fold("")(routes => s"; ${routes.router.word} over ${routes.description}")
    val started = WriteStarted(ConnectorVersion.text, stream.map(_.toString), describe(columns, order) + logical)
    if (isNew(started)) events.emit(started)
    events.emit(WritePlanned(stream.map(_.toString), options(WriteOptions.onInvalidRecord).word))
    plan
  }

  /** Settings for the streams of rows that have options of their own, for example `roleArn.orders`. */
  private def ownConnections(of: StreamRef => ClientSettings): Map[String, ClientSettings] =
    ReadOptions.ofStreamOfWrite.flatMap(options.withPrefix(_).keys).distinct
      .flatMap(name => StreamRef.parse(name).map(stream => name -> of(stream))).toMap

  private def checkRouter(settings: KinesisSinkSettings): Unit = {
    val router = options(WriteOptions.router)
    StreamSelectors.of(router, settings.requests).left.foreach { why =>
      throw OptionErrors.invalid(
        option = WriteOptions.router.key,
        value = router.word,
        reason = why,
        expected = WriteOptions.router.kind.expected
      )
    }
  }

  /** The settings that an operator needs to understand order and rate of a write. */
  private def describe(columns: WriteColumns, order: RowOrder): String = {
    val entries = Seq[ConfigEntry[_]](
      WriteOptions.ordering,
      WriteOptions.aggregation,
      WriteOptions.rateLimiting,
      WriteOptions.shardLimits,
      WriteOptions.maxInFlightRequests,
      WriteOptions.maxBufferedBytes,
      WriteOptions.onInvalidRecord
    )
    val more = Seq(order.toString, if (columns.stream.isEmpty) "" else "stream of each row from its column")
    (SinkPlan.shown(options, entries) ++ more.filter(_.nonEmpty)).mkString(", ")
  }

  private def noteIgnoredColumn(
      schema: StructType,
      columns: WriteColumns,
      stream: Option[StreamRef],
      events: EventSink
  ): Unit =
    for {
      one <- stream if columns.stream.isEmpty
      column <- WriteColumns.ignoredStream(schema, options)
      event = StreamColumnIgnored(one.toString, column) if isNew(event)
    } events.emit(event)

  private def noteWithoutEffect(
      columns: WriteColumns,
      isLogical: Boolean,
      query: Option[QueryType],
      events: EventSink
  ): Unit = {
    val selection = if (isLogical) StreamSelection.Logical
    else if (columns.stream.nonEmpty) StreamSelection.ByRow
    else StreamSelection.One
    OptionEffects.ofWrite(options, selection, query).map(OptionWithoutEffect(_)).filter(isNew).foreach(events.emit(_))
  }

  private def defaultStream(columns: WriteColumns): Option[StreamRef] = {
    if (options.isSet(ConnectionOptions.streamPattern))
      throw conflict(
        "streamPattern",
        "A pattern names streams to read.",
        "Name the stream with 'streamName' or 'streamARN'."
      )
    ConnectionOptions.namedStreams(options) match {
      case Seq() if columns.stream.isEmpty =>
        throw OptionErrors.missing(
          required = "'streamName' or 'streamARN', or a column 'stream'",
          reason = "Neither an option nor a column selects the stream.",
          fix = "Set 'streamName'."
        )
      case Seq() => None
      case Seq(one) => Some(one)
      case several => throw conflict(
          "streamName",
          s"The options name ${several.size} streams, but a write has one.",
          "Name one stream, and set 'streamColumn' to the column that selects others."
        )
    }
  }

  private def onInvalid(check: StreamRef => CheckedStream, queryId: String): OnInvalidRow =
    options(WriteOptions.onInvalidRecord) match {
      case OnInvalidRecord.Drop => OnInvalidRow.Drop
      case OnInvalidRecord.DeadLetter =>
        val stream = options.get(WriteOptions.deadLetterStream).flatMap(_.headOption)
        (stream, options.get(WriteOptions.deadLetterTable)) match {
          case (Some(stream), None) => SendInvalidRow(check(stream))
          case (None, Some(table)) =>
            new DeadLetterTable(table, queryId).check()
            OnInvalidRow.Hold(table)
          case (Some(_), Some(_)) =>
            throw OptionErrors.conflict(
              options = "'deadLetterStream' and 'deadLetterTable'",
              reason = "Invalid rows are written to one of them.",
              fix = "Remove one of them."
            )
          case (None, None) =>
            throw OptionErrors.missing(
              required = "'deadLetterStream' or 'deadLetterTable'",
              reason = "'onInvalidRecord' is deadLetter.",
              fix = "Set one of them to the stream or table for invalid rows."
            )
        }
      case OnInvalidRecord.Fail => OnInvalidRow.Fail
    }

  private def conflict(option: String, reason: String, fix: String) =
    OptionErrors.conflict(options = s"'$option' and writing", reason = reason, fix = fix)
}
