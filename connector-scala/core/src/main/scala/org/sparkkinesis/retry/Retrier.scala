package org.sparkkinesis.retry

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.service.ServiceException

/**
 * Retries a call while its failure is recoverable and the policy allows it. Non-blocking and thread-safe.
 *
 * @param random
 *   returns the jitter in `[0, 1)`
 * @param onRetry
 *   receives every failure that is retried, and the number of consecutive failures
 */
final class Retrier(
    scheduler: Scheduler,
    rules: RetryRules,
    random: () => Double = Jitter.random,
    onRetry: (ServiceException, Int) => Unit = (_, _) => ()
) {
  def retry[A](policy: RetryPolicy)(call: () => CompletableFuture[A]): CompletableFuture[A] = {
    val result = new CompletableFuture[A]
    attempt(policy, call, 1, scheduler.nanoTime, result)
    result
  }

  private def attempt[A](
      policy: RetryPolicy,
      call: () => CompletableFuture[A],
      next: Int,
      failedNanos: Long,
      result: CompletableFuture[A]
  ): Unit = {
    call().whenComplete { (value, failure) =>
      if (failure == null) result.complete(value)
      else
        Futures.unwrap(failure) match {
          case error: ServiceException
              if !result.isDone && rules.isRecoverable(error) &&
                policy.allows(next, error, (scheduler.nanoTime - failedNanos).nanos) =>
            onRetry(error, next)
            scheduler.schedule(policy.pause(next, random()))(attempt(policy, call, next + 1, failedNanos, result))
          case error => result.completeExceptionally(error)
        }
      ()
    }
    ()
  }
}
