package org.sparkkinesis.spark.connection

import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration.{Duration, FiniteDuration}
import scala.util.Using

import org.sparkkinesis.aws.client.{ClientKey, ClientSettings, KinesisClients}
import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.error.ServiceErrors
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.retry.Outages
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException, StreamDescription}
import org.sparkkinesis.sink.SharedTimer
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings, KnownStreams}

/**
 * Describes the streams that are written, on the driver and in executors. Results are cached in this JVM.
 * Thread-safe.
 */
object StreamCheck {
  private val known = new KnownStreams[ClientKey]

  /**
   * Returns the checked stream. Waits for the service if the stream is not cached.
   *
   * @param asker
   *   what the description is for
   * @param settings
   *   retries, and the maximum duration of an outage of the service
   * @param query
   *   the query's names for events
   * @param stop
   *   ends the wait when it fails; its failure is thrown
   * @throws KinesisConnectorException
   *   KINESIS_STREAM_NOT_FOUND, KINESIS_STREAM_UNUSABLE, KINESIS_ACCESS_DENIED, KINESIS_CREDENTIALS_FAILED,
   *   KINESIS_ENDPOINT_UNREACHABLE, KINESIS_SERVICE_FAILED
   */
  def check(
      stream: StreamRef,
      connection: ClientSettings,
      settings: KinesisSinkSettings,
      query: QueryContext,
      asker: KnownStreams.Asker,
      stop: CompletableFuture[Unit] = new CompletableFuture[Unit]
  ): CheckedStream = {
    val caller = connection.forStream(stream)
    val found = describe(stream, caller, settings, query, asker, stop)
    if (!found.status.isUsable)
      throw ServiceErrors.streamUnusable(stream = stream.name, status = found.status.name)
    CheckedStream.of(stream, found, caller.endpoint)
  }

  /** Removes a stream from the cache, after a call has shown that it no longer exists. */
  def forget(stream: StreamRef, connection: ClientSettings): Unit =
    known.forget(ClientKey.of(connection.forStream(stream)), stream)

  private def describe(
      stream: StreamRef,
      caller: ClientSettings,
      settings: KinesisSinkSettings,
      query: QueryContext,
      asker: KnownStreams.Asker,
      stop: CompletableFuture[Unit]
  ): StreamDescription =
    Using.Manager { use =>
      val patience = settings.requests.deliveryTimeout
      val lease = use(KinesisClients.shared.acquire(caller))
      val timer = use(SharedTimer.acquire())
      val outages = new Outages(timer, Environment.OfJvm.events(query))
      val last = new AtomicReference(timeout(patience))
      val answer = known.find(
        ClientKey.of(caller),
        stream,
        lease.service,
        timer,
        settings.retries(Operation.DescribeStreamSummary),
        settings.rules,
        asker
      ) { (error, failures) =>
        last.set(error)
        outages.failed(stream.name, None, failures, error)
      }
      val ended = CompletableFuture.anyOf(answer, stop)
      try {
        patience match {
          case limit: FiniteDuration => ended.get(limit.toMillis, TimeUnit.MILLISECONDS)
          case _ => ended.get()
        }
        answer.get()
      } catch {
        case _: TimeoutException => throw ServiceFailure.explain(last.get, stream.name, caller)
        case failed: ExecutionException =>
          Futures.unwrap(failed) match {
            case error: ServiceException => throw ServiceFailure.explain(error, stream.name, caller)
            case other => throw other
          }
      } finally {
        // Cancel the call, so that it is not retried after the wait.
        answer.cancel(true)
        outages.left(stream.name, None)
      }
    }.get

  private def timeout(patience: Duration): ServiceException = new ServiceException(
    ServiceErrorKind.Network,
    Operation.DescribeStreamSummary,
    "Timeout",
    s"no answer within $patience"
  )
}
