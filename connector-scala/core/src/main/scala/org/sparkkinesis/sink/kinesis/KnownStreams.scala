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
 * A cached description is returned immediately, and renewed in the background if it is older than the asker allows.
 * While the service is unreachable, the old description remains, and its renewals have pauses that grow.
 *
 * @tparam Caller
 *   account, region and endpoint of the caller, which determine the stream that a name refers to
 */
final class KnownStreams[Caller] {
  import KnownStreams._

  final private class Known(val found: StreamDescription, val foundAt: Long) {
    private var isRenewing = false
    private var failures = 0
    private var pausedUntil = foundAt

    /** Whether the caller renews the description. The caller tells the end of the renewal. */
    def startsRenewal(maxAge: FiniteDuration, now: Long): Boolean = {
      val starts = !isRenewing && now - foundAt >= maxAge.toNanos && now - pausedUntil >= 0
      if (starts) isRenewing = true
      starts
    }

    def renewalFailed(policy: RetryPolicy, random: Double, now: Long): Unit = {
      isRenewing = false
      failures += 1
      pausedUntil = now + policy.longPause(failures, random).toNanos
    }
  }

  private val known = mutable.HashMap.empty[(Caller, StreamRef), Known]
  private val asked = mutable.HashMap.empty[(Caller, StreamRef), CompletableFuture[StreamDescription]]
  private val reached = mutable.HashSet.empty[Caller]

  /**
   * Returns the description of a stream. Temporary failures are retried until the caller completes the future. If the
   * caller has never received a response from the service and the asker may be the first to ask it, it fails after a
   * few attempts, because the endpoint is probably wrong.
   *
   * @param asker
   *   what the description is for
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
      asker: Asker,
      random: () => Double = Jitter.random
  )(onRetry: (ServiceException, Int) => Unit): CompletableFuture[StreamDescription] = {
    val now = scheduler.nanoTime
    val (found, renewed) = synchronized {
      val entry = known.get((caller, stream)).filter(it => asker.acceptsOld || now - it.foundAt < asker.maxAge.toNanos)
      (entry.map(_.found), entry.filter(_.startsRenewal(asker.maxAge, now)))
    }
    renewed.foreach { old =>
      describe(caller, stream, service, scheduler).whenComplete { (_, error) =>
        if (error != null) synchronized {
          if (isGone(error)) known -= (caller -> stream)
          else old.renewalFailed(policy, random(), scheduler.nanoTime)
          ()
        }
      }
    }
    found.fold(describeUntilFound(
      caller,
      stream,
      service,
      scheduler,
      policy,
      asker,
      new Retrier(scheduler, rules, random, onRetry)
    ))(CompletableFuture.completedFuture(_))
  }

  /** Removes a stream that the service no longer knows. */
  def forget(caller: Caller, stream: StreamRef): Unit = synchronized {
    known -= (caller -> stream)
    asked -= (caller -> stream)
    ()
  }

  private def describeUntilFound(
      caller: Caller,
      stream: StreamRef,
      service: KinesisService,
      scheduler: Scheduler,
      policy: RetryPolicy,
      asker: Asker,
      retrier: Retrier
  ): CompletableFuture[StreamDescription] = {
    var unreached = 0
    retrier.retry(policy) { () =>
      describe(caller, stream, service, scheduler).handle[CompletableFuture[StreamDescription]] { (found, error) =>
        Futures.unwrap(error) match {
          case null => CompletableFuture.completedFuture(found)
          case lost: ServiceException
              if asker.mayBeFirst && isOf(lost, ServiceErrorKind.Network) &&
                !synchronized(reached(caller)) =>
            unreached += 1
            CompletableFuture.failedFuture(if (unreached >= FirstAttempts) asFinal(lost) else lost)
          case other => CompletableFuture.failedFuture(other)
        }
      }.thenCompose(result => result)
    }
  }

  /** Describes a stream, with one call at a time for each stream. A caller that does not wait any more ends no call. */
  private def describe(
      caller: Caller,
      stream: StreamRef,
      service: KinesisService,
      scheduler: Scheduler
  ): CompletableFuture[StreamDescription] = {
    val answer = new CompletableFuture[StreamDescription]
    val running = synchronized {
      val before = asked.get(caller -> stream)
      if (before.isEmpty) asked(caller -> stream) = answer
      before
    }
    if (running.isEmpty) {
      val called = Futures.attempt(call(caller, stream, service, scheduler))
      called.whenComplete { (_, _) =>
        synchronized {
          if (asked.get(caller -> stream).contains(answer)) asked -= (caller -> stream)
          ()
        }
        Futures.forward(called, answer)
      }
      ()
    }
    running.getOrElse(answer).thenApply[StreamDescription](found => found)
  }

  private def call(
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

}

object KnownStreams {

  /**
   * What a description is for.
   *
   * @param maxAge
   *   age at which a description is renewed
   * @param acceptsOld
   *   whether an older description is returned while it is renewed
   * @param mayBeFirst
   *   whether nobody may have reached the service before
   */
  sealed abstract class Asker(val maxAge: FiniteDuration, val acceptsOld: Boolean, val mayBeFirst: Boolean)

  /** The driver, which describes the streams that the options name once for each micro-batch. */
  case object Planner extends Asker(1.minute, acceptsOld = true, mayBeFirst = true)

  /**
   * A task, for a stream that its rows or its routes name. An account may describe 20 streams per second. With this
   * age, 25 executors that write to 50 streams ask twice a second. An error of a call shows earlier what has changed.
   */
  case object Task extends Asker(10.minutes, acceptsOld = true, mayBeFirst = false)

  /** A task that is about to refuse a record because of its size, since the limit of a stream can be raised. */
  case object Limit extends Asker(1.second, acceptsOld = false, mayBeFirst = false)

  /** Number of calls to a service that has never responded. */
  private val FirstAttempts = 6

  private def isLost(error: Throwable): Boolean =
    Seq(ServiceErrorKind.Network, ServiceErrorKind.Client, ServiceErrorKind.NoCredentials).exists(isOf(error, _))
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
