package org.sparkkinesis.spark.write

import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings}
import org.sparkkinesis.spark.connection.{ReadStreams, StreamCheck}
import org.sparkkinesis.spark.sink.invalid.OnInvalidRow
import org.sparkkinesis.spark.sink.{SinkDataWriter, SinkKind, SinkPlan, TaskShare}
import org.sparkkinesis.spark.write.route.{RouteBooks, RoutePlan}

/**
 * The settings with which a task writes. `toString` contains no secret.
 *
 * @param sources
 *   the streams that the same query reads, to which none of its rows may be written
 * @param connection
 *   settings for streams without options of their own
 * @param ownConnections
 *   settings for streams that have options of their own, by name or ARN
 * @param routing
 *   the physical streams of logical streams, if the rows go to logical streams
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
    sources: ReadStreams = ReadStreams.none,
    ownConnections: Map[String, ClientSettings] = Map.empty,
    routing: Option[RoutePlan] = None
) extends SinkPlan {
  override def kind: SinkKind = KinesisSink
  override def target: String = routing match {
    case Some(routes) => routes.defaultId.fold("logical streams named by the rows")(id => s"logical stream $id")
    case None => defaultStream.fold("streams named by the rows")(_.stream.toString)
  }
  override def distribution: Distribution = order.distribution
  override def ordering: Array[SortOrder] = order.ordering

  override def newWriter(partition: Int, share: TaskShare): SinkDataWriter =
    new KinesisDataWriter(this, partition, share)

  /** Returns the plan for a query that was not known when the write was planned. */
  def ofQuery(context: QueryContext): WritePlan =
    context.queryId.fold(this)(id => copy(queryId = id, query = context))

  /**
   * Returns the settings of the client for a stream that an option or a row names. As in
   * [[org.sparkkinesis.config.Options.ofStream]], a name in another case counts if it is not that of another stream.
   */
  def connectionOf(stream: StreamRef): ClientSettings = {
    val names = stream.arn.toSeq :+ stream.name
    def inOtherCase(name: String): Option[ClientSettings] = ownConnections.collectFirst {
      case (other, own) if other.equalsIgnoreCase(name) && !checkedStreams.exists(_.stream.name == other) => own
    }
    if (ownConnections.isEmpty) connection
    else
      names.flatMap(ownConnections.get).headOption.orElse(names.flatMap(inOtherCase).headOption).getOrElse(connection)
  }

  /** Lets the next batch describe the streams again, because one may have been deleted. */
  override def aborted(): Unit =
    checkedStreams.foreach(found => StreamCheck.forget(found.stream, connectionOf(found.stream)))

  override def ended(): Unit = routing.foreach(RouteBooks.ended)

  def checkedStreams: Seq[CheckedStream] =
    defaultStream.toSeq ++ Some(onInvalid).collect { case SendInvalidRow(deadLetters) => deadLetters }
}

/** The writer sends invalid rows to a stream. */
final case class SendInvalidRow(deadLetters: CheckedStream) extends OnInvalidRow {
  override def action: String = s"sent to the dead-letter stream ${deadLetters.stream.name}"
}
