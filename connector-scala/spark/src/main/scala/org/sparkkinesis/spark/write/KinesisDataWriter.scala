package org.sparkkinesis.spark.write

import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.spark.sql.catalyst.InternalRow

import org.sparkkinesis.aws.client.{ClientSettings, KinesisClients}
import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.error.{KinesisConnectorException, SinkErrors}
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.metric.Sums
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.SinkBounds
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{
  AutoDistributionException, CheckedStream, KinesisSinkMetrics, KinesisSinkSettings, KinesisStreamSink, KnownStreams,
  SinkProcess, StreamRouter
}
import org.sparkkinesis.sink.route.{RouteHealth, RouteNews, RoutedSink, StreamSelectors}
import org.sparkkinesis.spark.connection.StreamCheck
import org.sparkkinesis.spark.sink.invalid.{InvalidRow, OnInvalidRow}
import org.sparkkinesis.spark.sink.{Refusal, SinkDataWriter, TaskShare, WriteCounts, WriteFailure}
import org.sparkkinesis.spark.write.route.{ExecutorRoutes, RouteAccess, RoutePlan}

/** Writes the rows of one partition to the streams that they name. */
final class KinesisDataWriter(plan: WritePlan, partition: Int, share: TaskShare)
    extends SinkDataWriter(plan, partition, share) {
  private val bounds = plan.settings.newBounds
  private val router = new StreamRouter(
    KinesisDataWriter.check(plan, _),
    KinesisDataWriter.open(plan, _, bounds, new SinkProcess(timer, senders = share.tasksAtOnce), events),
    KinesisDataWriter.explain(plan, _, _)
  )
  private val routed = plan.routing.map(KinesisDataWriter.routedSink(
    _,
    plan,
    partition,
    KinesisDataWriter.openWith(plan)(_, _, _, bounds, new SinkProcess(timer, senders = share.tasksAtOnce), events),
    timer,
    events,
    refused
  ))
  private val toRecord = new RowToRecord(plan.columns)
  private val defaultStream: Either[String, StreamRef] =
    plan.defaultStream.map(_.stream).toRight("the column of its stream is null, and no option names a stream")

  /** The streams that did not exist when a row named them, with the time of the answer. */
  private val missing = mutable.HashMap.empty[StreamRef, Long]

  /** The record of the row that is being sent to a logical stream, and why a stream has refused it. */
  private var current = Option.empty[SinkRecord]
  private var refusalOfCurrent = Option.empty[Refusal]
  opened()

  override protected def send(values: InternalRow): Option[Refusal] = routed match {
    case None => sendToNamed(values)
    case Some(sink) => sendToLogical(values, sink)
  }

  private def sendToLogical(values: InternalRow, sink: RoutedSink): Option[Refusal] = {
    val id = toRecord.streamIdOf(values).orElse(plan.routing.flatMap(_.defaultId))
    (id.filter(sink.knows), toRecord.convert(values)) match {
      case (Some(known), Right(record)) =>
        current = Some(record)
        refusalOfCurrent = None
        sink.write(known, record)
        current = None
        refusalOfCurrent
      case (Some(known), Left(reason)) => Some(refusal(known, reason, None))
      case (None, record) =>
        val reason = id.fold("its column 'streamId' is null")(other =>
          s"the metadata service does not know its logical stream '$other'"
        )
        Some(refusal(id.getOrElse("(none)"), reason, record.toOption))
    }
  }

  private def refused(stream: String, reason: String, record: SinkRecord): Unit =
    if (current.exists(_ eq record)) refusalOfCurrent = Some(refusal(stream, reason, Some(record)))
    else throw SinkErrors.rowInvalid(
      reason = s"$reason (the record was taken back from another stream, so its row is not known)",
      row = 0,
      partition = partition,
      stream = stream
    )

  private def sendToNamed(values: InternalRow): Option[Refusal] = {
    val stream = toRecord.streamOf(values) match {
      case Some(name) =>
        StreamRef.parse(name).toRight("the column of its stream contains neither the name nor the ARN of a stream")
      case None => defaultStream
    }
    (stream, toRecord.convert(values)) match {
      case (Right(to), Right(record)) => violation(to, record) match {
          case None =>
            router.write(to, record)
            None
          case Some(reason) => Some(refusal(to.toString, reason, Some(record)))
        }
      case (Left(reason), record) => Some(refusal("(none)", reason, record.toOption))
      case (Right(to), Left(reason)) => Some(refusal(to.toString, reason, None))
    }
  }

  /**
   * Returns why the stream does not accept the record. A row that names a stream that does not exist is invalid, and
   * the stream is looked for again after a while.
   */
  private def violation(to: StreamRef, record: SinkRecord): Option[String] = {
    val isMissing = missing.get(to).exists(since => timer.nanoTime - since < KinesisDataWriter.MissingFor.toNanos)
    if (isMissing) Some(KinesisDataWriter.MissingReason)
    else
      try router.violation(to, record)
      catch {
        case error: KinesisConnectorException
            if error.condition == "KINESIS_STREAM_NOT_FOUND" && plan.onInvalid != OnInvalidRow.Fail &&
              !plan.defaultStream.exists(_.stream == to) =>
          missing(to) = timer.nanoTime
          Some(KinesisDataWriter.MissingReason)
      }
  }

  override protected def flush(): Unit = {
    routed.foreach(_.flush())
    router.flush()
  }

  override protected def release(): Unit =
    try routed.foreach(_.close())
    finally router.close()

  override protected def sent: Map[String, WriteCounts] = {
    def counts(of: Map[String, KinesisSinkMetrics]) = of.map { case (stream, metrics) =>
      stream -> WriteCounts(metrics.requests, shards = metrics.shards)
    }
    val named = counts(router.metricsByStream)
    routed.fold(named) { sink =>
      val taken = sink.reroutedByStream.map { case (stream, records) => stream -> WriteCounts(rerouted = records) }
      val routes = sink.streams.map { case (stream, of) => stream -> WriteCounts(streams = Map(stream -> of)) }
      Seq(counts(sink.metricsByStream), taken, routes).foldLeft(named)(Sums.of(_, _)(_ + _))
    }
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

  /** Time for which a stream counts as missing, so that its rows do not use up the calls of the account. */
  private val MissingFor = 10.seconds
  private val MissingReason = "the stream that it names does not exist"

  private def check(plan: WritePlan, stream: StreamRef): CheckedStream =
    plan.checkedStreams.find(_.stream == stream).getOrElse {
      val found = StreamCheck.check(stream, plan.connectionOf(stream), plan.settings, plan.query, KnownStreams.Task)
      plan.sources.refuse(found)
      found
    }

  private def open(
      plan: WritePlan,
      stream: CheckedStream,
      bounds: SinkBounds,
      process: SinkProcess,
      events: EventSink
  ): StreamRouter.Target =
    openWith(plan)(stream, plan.connectionOf(stream.stream), plan.settings, bounds, process, events)

  private def openWith(plan: WritePlan)(
      stream: CheckedStream,
      connection: ClientSettings,
      settings: KinesisSinkSettings,
      bounds: SinkBounds,
      process: SinkProcess,
      events: EventSink
  ): StreamRouter.Target = {
    val lease = KinesisClients.shared.acquire(connection.forStream(stream.stream))
    try {
      val sink = KinesisStreamSink.open(lease.service, stream, settings, bounds, process, events)
      def present = StreamCheck.check(stream.stream, connection, settings, plan.query, KnownStreams.Limit)
      new StreamRouter.Target(stream, sink, () => lease.close(), () => present.maxRecordBytes)
    } catch {
      case failure: Throwable =>
        lease.close()
        throw failure
    }
  }

  /** Returns the error, with a condition, for a failed write to the stream. */
  private def explain(plan: WritePlan, to: CheckedStream, failure: Throwable): Throwable =
    explain(to.stream, plan.connectionOf(to.stream), failure)

  private def explain(stream: StreamRef, connection: ClientSettings, failure: Throwable): Throwable =
    WriteFailure.reason(failure) match {
      case auto: AutoDistributionException =>
        SinkErrors.autoDistribution(stream = stream.name, option = auto.option).causedBy(auto)
      case error: ServiceException if error.kind == ServiceErrorKind.ResourceNotFound =>
        StreamCheck.forget(stream, connection)
        WriteFailure.explain(error, stream.name, connection.forStream(stream))
      case other => WriteFailure.explain(other, stream.name, connection.forStream(stream))
    }

  private def routedSink(
      routing: RoutePlan,
      plan: WritePlan,
      partition: Int,
      openSink: (CheckedStream, ClientSettings, KinesisSinkSettings) => StreamRouter.Target,
      scheduler: Scheduler,
      events: EventSink,
      onInvalid: (String, String, SinkRecord) => Unit
  ): RoutedSink = {
    val health = RouteHealth.OfJvm
    val known = routing.desk.map(ExecutorRoutes.of(routing, _, plan.connection, events))
    val selector = StreamSelectors.of(routing.router, plan.settings.requests)
      .fold(reason => throw SinkErrors.routerFailed(routing.router.word, reason.stripSuffix(".")), identity)
    new RoutedSink(
      routing.routes,
      known.getOrElse(RouteNews.None),
      () => selector(partition),
      health,
      plan.settings.requests.deliveryTimeout,
      scheduler,
      new RouteAccess(
        routing,
        () => known.fold(routing)(_.plan),
        plan.settings,
        plan.query,
        plan.sources,
        health,
        events,
        openSink,
        explain(_, _, _),
        onInvalid
      )
    )
  }
}
