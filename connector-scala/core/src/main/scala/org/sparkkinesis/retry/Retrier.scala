package org.sparkkinesis.retry

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.service.ServiceException

/**
 * Makes a call again while its failure is recoverable and the policy allows it. Never blocks; thread-safe.
 *
 * @param random
 *   gives the jitter, from 0 until 1
 * @param onRetry
 *   is told of every failure that leads to another call, and how many there have been in a row
 */
final class Retrier(
    scheduler: Scheduler,
    rules: RetryRules,
    random: () => Double = Jitter.random,
    onRetry: (ServiceException, Int) => Unit = (_, _) => ()
) {
  def retry[A](policy: RetryPolicy)(call: () => CompletableFuture[A]): CompletableFuture[A] = {
    val result = new CompletableFuture[A]
    attempt(policy, call, 1, result)
    result
  }

  private def attempt[A](
      policy: RetryPolicy,
      call: () => CompletableFuture[A],
      next: Int,
      result: CompletableFuture[A]
  ): Unit = {
    call().whenComplete { (value, failure) =>
      if (failure == null) result.complete(value)
      else
        Futures.unwrap(failure) match {
          case error: ServiceException if rules.isRecoverable(error) && policy.allows(next) && !result.isDone =>
            onRetry(error, next)
            scheduler.schedule(policy.pause(next, random()))(attempt(policy, call, next + 1, result))
          case error => result.completeExceptionally(error)
        }
      ()
    }
    ()
  }
}
