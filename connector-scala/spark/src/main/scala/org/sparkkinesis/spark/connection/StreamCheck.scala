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

/** Finds the streams that are written, on the driver and in executors. What this JVM knows is not asked for again. */
object StreamCheck {
  private val known = new KnownStreams[ClientSettings]

  /**
   * Returns the stream; waits for the service where the stream is not known.
   *
   * @param patience
   *   how long an outage of the service may last
   * @param query
   *   names the query in events
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

  /** To be told when a call for the stream has shown that it is gone: the next check asks the service. */
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
        // Whoever is not waited for any more is not to be called again.
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
