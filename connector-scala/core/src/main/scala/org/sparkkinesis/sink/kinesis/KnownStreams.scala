package org.sparkkinesis.sink.kinesis

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.retry.{Jitter, Retrier, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{KinesisService, ServiceErrorKind, ServiceException, StreamDescription}

/**
 * Caches the descriptions of streams in one process, so that tasks and micro-batches do not describe them again.
 * Thread-safe and non-blocking.
 *
 * A cached description is returned immediately, and renewed in the background if it is older than
 * [[KnownStreams.MaxAge]]. While the service is unreachable, the old description remains.
 *
 * @tparam Caller
 *   account, region and endpoint of the caller, which determine the stream that a name refers to
 */
final class KnownStreams[Caller] {
  import KnownStreams._

  final private class Known(val found: StreamDescription, val foundAt: Long) {
    var isRenewing = false
  }

  private val known = mutable.HashMap.empty[(Caller, StreamRef), Known]
  private val reached = mutable.HashSet.empty[Caller]

  /**
   * Returns the description of a stream. Temporary failures are retried until the caller completes the future. If the
   * caller has never received a response from the service, it fails after a few attempts, because the endpoint is
   * probably wrong.
   *
   * @param policy
   *   retry policy of DescribeStreamSummary
   * @param random
   *   gives the jitter of pauses, from 0 until 1
   * @param onRetry
   *   receives every failure that is retried, and the number of consecutive failures
   */
  def find(
      caller: Caller,
      stream: StreamRef,
      service: KinesisService,
      scheduler: Scheduler,
      policy: RetryPolicy,
      rules: RetryRules,
      random: () => Double = Jitter.random
  )(onRetry: (ServiceException, Int) => Unit): CompletableFuture[StreamDescription] = {
    val (found, renew) = synchronized {
      val entry = known.get((caller, stream))
      val renew = entry.exists(it => !it.isRenewing && scheduler.nanoTime - it.foundAt >= MaxAge.toNanos)
      if (renew) entry.foreach(_.isRenewing = true)
      (entry.map(_.found), renew)
    }
    if (renew) describe(caller, stream, service, scheduler).whenComplete { (_, error) =>
      if (error != null) renewed(caller, stream, isGone(error))
    }
    found.fold(describeUntilFound(
      caller,
      stream,
      service,
      scheduler,
      policy,
      new Retrier(scheduler, rules, random, onRetry)
    ))(CompletableFuture.completedFuture(_))
  }

  /** Removes a stream that the service no longer knows. */
  def forget(caller: Caller, stream: StreamRef): Unit = synchronized {
    known -= (caller -> stream)
    ()
  }

  private def describeUntilFound(
      caller: Caller,
      stream: StreamRef,
      service: KinesisService,
      scheduler: Scheduler,
      policy: RetryPolicy,
      retrier: Retrier
  ): CompletableFuture[StreamDescription] = {
    var unreached = 0
    retrier.retry(policy) { () =>
      describe(caller, stream, service, scheduler).handle[CompletableFuture[StreamDescription]] { (found, error) =>
        Futures.unwrap(error) match {
          case null => CompletableFuture.completedFuture(found)
          case lost: ServiceException if lost.kind == ServiceErrorKind.Network && !synchronized(reached(caller)) =>
            unreached += 1
            CompletableFuture.failedFuture(if (unreached >= FirstAttempts) asFinal(lost) else lost)
          case other => CompletableFuture.failedFuture(other)
        }
      }.thenCompose(result => result)
    }
  }

  private def describe(
      caller: Caller,
      stream: StreamRef,
      service: KinesisService,
      scheduler: Scheduler
  ): CompletableFuture[StreamDescription] = {
    val askedAt = scheduler.nanoTime
    service.describeStream(stream).whenComplete { (found, error) =>
      synchronized {
        if (error == null) {
          reached += caller
          if (found.status.isUsable) known((caller, stream)) = new Known(found, askedAt)
          else known -= (caller -> stream)
        } else if (!isLost(error)) reached += caller
        ()
      }
    }
  }

  private def renewed(caller: Caller, stream: StreamRef, isGone: Boolean): Unit = synchronized {
    if (isGone) known -= (caller -> stream) else known.get((caller, stream)).foreach(_.isRenewing = false)
    ()
  }
}

object KnownStreams {

  /** Age at which a description is renewed. */
  val MaxAge: FiniteDuration = 1.minute

  /** Number of calls to a service that has never responded. */
  private val FirstAttempts = 6

  private def isLost(error: Throwable): Boolean = isOf(error, ServiceErrorKind.Network) ||
    isOf(error, ServiceErrorKind.Client)
  private def isGone(error: Throwable): Boolean = isOf(error, ServiceErrorKind.ResourceNotFound)

  private def isOf(error: Throwable, kind: ServiceErrorKind): Boolean = Futures.unwrap(error) match {
    case failed: ServiceException => failed.kind == kind
    case _ => false
  }

  /** Returns the same failure as one that is not retried. */
  private def asFinal(error: ServiceException): ServiceException = new ServiceException(
    ServiceErrorKind.Client,
    error.operation,
    error.errorCode,
    error.detail,
    error.requestId,
    error
  )
}
