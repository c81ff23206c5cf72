package org.sparkkinesis.sink.kinesis

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.retry.{Jitter, Retrier, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{KinesisService, ServiceErrorKind, ServiceException, StreamDescription}

/**
 * The streams that a process has found to be there, so that neither a task nor a micro-batch asks for them again. Thread-safe;
 * never blocks.
 *
 * An answer is used at once, and asked for anew in the background when it is older than [[KnownStreams.MaxAge]]; while the service
 * cannot be asked, the old one stays.
 *
 * @tparam Caller
 *   who asks, and where: a name means one stream to each caller
 */
final class KnownStreams[Caller] {
  import KnownStreams._

  final private class Known(val found: StreamDescription, val foundAt: Long) {
    var isRenewing = false
  }

  private val known = mutable.HashMap.empty[(Caller, StreamRef), Known]
  private val reached = mutable.HashSet.empty[Caller]

  /**
   * The stream. Failures that may pass are tried again until the future is completed by whoever waits for it. Only when the caller
   * has never had an answer from the service, and gets none, it fails soon: then the address is likely to be wrong.
   *
   * @param random
   *   gives the jitter of pauses, from 0 until 1
   * @param onRetry
   *   is told of every failure after which the service is asked again, and how many there have been
   */
  def find(
      caller: Caller,
      stream: StreamRef,
      service: KinesisService,
      scheduler: Scheduler,
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
      random,
      onRetry
    ))(CompletableFuture.completedFuture(_))
  }

  /** To be told when the service does not know the stream any more. */
  def forget(caller: Caller, stream: StreamRef): Unit = synchronized {
    known -= (caller -> stream)
    ()
  }

  private def describeUntilFound(
      caller: Caller,
      stream: StreamRef,
      service: KinesisService,
      scheduler: Scheduler,
      random: () => Double,
      onRetry: (ServiceException, Int) => Unit
  ): CompletableFuture[StreamDescription] = {
    var unreached = 0
    new Retrier(scheduler, RetryRules.Default, random, onRetry).retry(Patience) { () =>
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
          if (Usable(found.status)) known((caller, stream)) = new Known(found, askedAt) else known -= (caller -> stream)
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

  /** How old an answer is that is asked for anew. */
  val MaxAge: FiniteDuration = 1.minute

  /** The states of a stream that can be written. */
  val Usable: Set[String] = Set("ACTIVE", "UPDATING")

  private val Patience = RetryPolicy(None, 200.millis, 3.seconds, 1.5)

  /** How often a service that has never answered is called. */
  private val FirstAttempts = 6

  private def isLost(error: Throwable): Boolean = isOf(error, ServiceErrorKind.Network) ||
    isOf(error, ServiceErrorKind.Client)
  private def isGone(error: Throwable): Boolean = isOf(error, ServiceErrorKind.ResourceNotFound)

  private def isOf(error: Throwable, kind: ServiceErrorKind): Boolean = Futures.unwrap(error) match {
    case failed: ServiceException => failed.kind == kind
    case _ => false
  }

  /** The same failure, as one that no retry mends. */
  private def asFinal(error: ServiceException): ServiceException = new ServiceException(
    ServiceErrorKind.Client,
    error.operation,
    error.errorCode,
    error.detail,
    error.requestId,
    error
  )
}
