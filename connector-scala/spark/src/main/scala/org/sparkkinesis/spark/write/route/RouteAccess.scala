package org.sparkkinesis.spark.write.route

import java.util.concurrent.CompletableFuture

import scala.annotation.tailrec
import scala.concurrent.duration.{Duration, FiniteDuration}

import org.sparkkinesis.aws.client.{ClientSettings, KinesisClients}
import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.config.MetadataOptions
import org.sparkkinesis.error.{KinesisConnectorException, MetadataErrors}
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{EventSink, StreamLeft}
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{PutResult, ServiceErrorKind, ServiceException, StreamDescription}
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings, KnownStreams, StreamRouter}
import org.sparkkinesis.sink.route.{RouteHealth, RoutedSink}
import org.sparkkinesis.sink.{DeliveryFailedException, DestinationStalledException, FatalSinkException}
import org.sparkkinesis.spark.connection.{Environment, ReadStreams, StreamCheck}

/**
 * Opens the physical streams of one task, and decides which failures concern one stream only.
 *
 * @param newest
 *   returns the newest plan that this executor knows
 * @param openSink
 *   opens the sink of a stream with these settings of its client
 * @param explainFailure
 *   returns the error, with a condition, for a failed write to a stream with these settings of its client
 */
final private[write] class RouteAccess(
    routing: RoutePlan,
    newest: () => RoutePlan,
    settings: KinesisSinkSettings,
    query: QueryContext,
    sources: ReadStreams,
    health: RouteHealth,
    events: EventSink,
    openSink: (CheckedStream, ClientSettings, KinesisSinkSettings) => StreamRouter.Target,
    explainFailure: (StreamRef, ClientSettings, Throwable) => Throwable,
    onInvalid: (String, String, SinkRecord) => Unit
) extends RoutedSink.Access {
  import RouteAccess._

  private val impatient = settings.copy(requests = settings.requests.copy(stallTimeout = stallTimeout(settings)))

  override def open(
      stream: PhysicalStream,
      isAlone: Boolean,
      stop: CompletableFuture[Unit]
  ): StreamRouter.Target = {
    val connection = connectionOf(stream)
    // Without another stream, an outage is waited for as long as `deliveryTimeout` allows.
    val patience =
      if (isAlone) settings
      else settings.copy(requests = settings.requests.copy(deliveryTimeout = stallTimeout(settings)))
    val checked = StreamCheck.check(reference(stream), connection, patience, query, KnownStreams.Task, stop)
    refuseForeign(stream, checked.identity.arn)
    sources.refuse(checked)
    openSink(checked, connection, if (isAlone) settings else impatient)
  }

  override def tryOut(
      stream: PhysicalStream,
      record: SinkRecord,
      limit: FiniteDuration
  ): CompletableFuture[Unit] = {
    val lease = KinesisClients.shared.acquire(connectionOf(stream))
    val answer = Futures.attempt(lease.service.putRecords(reference(stream), IndexedSeq(record)))
    val overdue = Environment.OfJvm.sharedScheduler.schedule(limit) {
      answer.cancel(true)
      ()
    }
    answer.whenComplete { (_, _) =>
      overdue.cancel()
      lease.close()
    }
    Futures.abortable(answer) {
      case IndexedSeq(_: PutResult.Accepted) => ()
      case refused => throw new RoutedSink.RecordRefusedException(String.valueOf(refused))
    }
  }

  override def pause(done: CompletableFuture[_], limit: FiniteDuration): Unit = {
    Environment.OfJvm.waiting.until(done, limit)
    ()
  }

  override def awaitEnd(done: CompletableFuture[_], limit: FiniteDuration): Unit = {
    val wasInterrupted = Thread.interrupted()
    try pause(done, limit)
    catch {
      case _: InterruptedException =>
        pause(done, limit)
        Thread.currentThread().interrupt()
    } finally if (wasInterrupted) Thread.currentThread().interrupt()
  }

  override def judge(failure: Throwable): Option[Boolean] = isPermanent(failure)

  override def left(stream: PhysicalStream, isPermanent: Boolean, failure: Throwable, records: Int): Unit = {
    events.emit(StreamLeft(stream.arn, records, String.valueOf(failure.getMessage)))
    val connection = connectionOf(stream)
    StreamCheck.forget(reference(stream), connection)
    health.leave(stream, isPermanent, routing.probeEvery, Environment.OfJvm.sharedScheduler, events)(() =>
      probe(stream, connection)
    )
    ()
  }

  override def explain(stream: PhysicalStream, failure: Throwable): Throwable =
    explainFailure(stream.stream, connectionOf(stream), failure)

  override def invalid(stream: String, reason: String, record: SinkRecord): Unit = onInvalid(stream, reason, record)

  private def planOf(stream: PhysicalStream): RoutePlan =
    Some(newest()).filter(_.connections.contains(stream.arn)).getOrElse(routing)

  private def connectionOf(stream: PhysicalStream): ClientSettings = planOf(stream).connections(stream.arn)

  /** A call by name never leaves the account of the credentials, unlike a call by ARN. */
  private def reference(stream: PhysicalStream): StreamRef =
    if (planOf(stream).mustBeOwn(stream.arn)) StreamRef.ByName(stream.stream.name) else stream.stream

  private def refuseForeign(stream: PhysicalStream, found: String): Unit =
    if (found != stream.arn) throw MetadataErrors.forbidden(
      stream = stream.arn,
      reason = "it does not belong to the account of the query's own credentials, and no other account is allowed",
      option = MetadataOptions.metadataAllowedAccounts.key
    )

  private def probe(stream: PhysicalStream, connection: ClientSettings): CompletableFuture[StreamDescription] = {
    val lease = KinesisClients.shared.acquire(connection)
    Futures.attempt(lease.service.describeStream(reference(stream))).thenApply[StreamDescription] { found =>
      refuseForeign(stream, found.arn)
      if (!found.status.isUsable) throw new IllegalStateException(s"the stream is ${found.status.name}")
      found
    }.whenComplete((_, _) => lease.close())
  }
}

private[sparkkinesis] object RouteAccess {

  /** Two requests without an answer; earlier if the delivery timeout is shorter. */
  def stallTimeout(settings: KinesisSinkSettings): FiniteDuration = {
    val requests = settings.requests
    requests.deliveryTimeout match {
      case limit: FiniteDuration => (requests.requestTimeout * 2).min(limit / 2)
      case _: Duration => requests.requestTimeout * 2
    }
  }

  /**
   * Returns whether a failure that concerns one stream only is permanent; `None` if other streams would fail as well.
   */
  @tailrec
  def isPermanent(failure: Throwable): Option[Boolean] = failure match {
    case fatal: FatalSinkException => isPermanent(fatal.getCause)
    case _: DestinationStalledException | _: DeliveryFailedException => Some(false)
    case error: ServiceException => OfService.get(error.kind)
    case error: KinesisConnectorException => OfCondition.get(error.condition)
    case _ => None
  }

  /** Failures of one stream, and whether they are permanent. */
  private val OfService: Map[ServiceErrorKind, Boolean] = Map(
    ServiceErrorKind.ResourceNotFound -> true,
    ServiceErrorKind.AccessDenied -> true,
    ServiceErrorKind.Encryption -> true,
    ServiceErrorKind.KeyUnavailable -> false,
    ServiceErrorKind.NoCredentials -> false,
    ServiceErrorKind.StaleIdentity -> false,
    ServiceErrorKind.Internal -> false,
    ServiceErrorKind.Network -> false
  )
  private val OfCondition: Map[String, Boolean] = Map(
    "KINESIS_STREAM_NOT_FOUND" -> true,
    "KINESIS_STREAM_UNUSABLE" -> true,
    "KINESIS_ACCESS_DENIED" -> true,
    "KINESIS_CREDENTIALS_FAILED" -> true,
    "KINESIS_METADATA_FORBIDDEN" -> true,
    "KINESIS_ENDPOINT_UNREACHABLE" -> false,
    "KINESIS_SERVICE_FAILED" -> false
  )
}
