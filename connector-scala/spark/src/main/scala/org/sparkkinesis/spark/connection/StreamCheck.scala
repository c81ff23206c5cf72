package org.sparkkinesis.spark.connection

import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration.FiniteDuration
import scala.util.Using

import org.sparkkinesis.aws.client.{ClientSettings, KinesisClients}
import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.error.ServiceErrors
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.retry.Outages
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException, StreamDescription}
import org.sparkkinesis.sink.SharedTimer
import org.sparkkinesis.sink.kinesis.{CheckedStream, KnownStreams}

/** Describes the streams that are written, on the driver and in executors. Describes each stream once per JVM. */
object StreamCheck {
  private val known = new KnownStreams[ClientSettings]

  /**
   * Returns the stream. Calls the service and waits for its response if this JVM does not know the stream.
   *
   * @param patience
   *   maximum time to wait during an outage of the service
   * @param query
   *   the query's names, for events
   * @throws KinesisConnectorException
   *   KINESIS_STREAM_NOT_FOUND, KINESIS_STREAM_UNUSABLE, KINESIS_ACCESS_DENIED, KINESIS_CREDENTIALS_FAILED,
   *   KINESIS_ENDPOINT_UNREACHABLE, KINESIS_SERVICE_FAILED
   */
  def check(
      stream: StreamRef,
      connection: ClientSettings,
      patience: FiniteDuration,
      query: QueryContext
  ): CheckedStream = {
    val caller = connection.forStream(stream)
    val found = describe(stream, caller, patience, query)
    if (!KnownStreams.Usable(found.status))
      throw ServiceErrors.streamUnusable(stream = stream.name, status = found.status)
    CheckedStream.of(stream, found, caller.endpoint)
  }

  /** Removes a stream that a call has shown to be missing, so that the next check calls the service. */
  def forget(stream: StreamRef, connection: ClientSettings): Unit = known.forget(connection.forStream(stream), stream)

  private def describe(
      stream: StreamRef,
      caller: ClientSettings,
      patience: FiniteDuration,
      query: QueryContext
  ): StreamDescription =
    Using.Manager { use =>
      val lease = use(KinesisClients.shared.acquire(caller))
      val timer = use(SharedTimer.acquire())
      val outages = new Outages(timer, Environment.OfJvm.events(query))
      val last = new AtomicReference(timeout(patience))
      val answer = known.find(caller, stream, lease.service, timer) { (error, failures) =>
        last.set(error)
        outages.failed(stream.name, None, failures, error)
      }
      try answer.get(patience.toMillis, TimeUnit.MILLISECONDS)
      catch {
        case _: TimeoutException => throw ServiceFailure.explain(last.get, stream.name, caller)
        case failed: ExecutionException =>
          Futures.unwrap(failed) match {
            case error: ServiceException => throw ServiceFailure.explain(error, stream.name, caller)
            case other => throw other
          }
      } finally {
        // Stops the retries if the wait has timed out.
        answer.cancel(true)
        outages.left(stream.name, None)
      }
    }.get

  private def timeout(patience: FiniteDuration): ServiceException = new ServiceException(
    ServiceErrorKind.Network,
    Operation.DescribeStreamSummary,
    "Timeout",
    s"no answer within $patience"
  )
}
