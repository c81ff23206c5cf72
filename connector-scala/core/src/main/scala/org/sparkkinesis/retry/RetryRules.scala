package org.sparkkinesis.retry

import org.sparkkinesis.config.{Options, RetryOptions}
import org.sparkkinesis.service.ServiceException

/**
 * Decides which failures are worth the same call again: those that the operation itself names, and those that the user adds.
 *
 * @param alsoRecoverable
 *   what the user wants retried as well: the service's error codes, or names of exception classes, with or without their package
 */
final case class RetryRules(alsoRecoverable: Set[String]) {
  def isRecoverable(error: ServiceException): Boolean =
    error.operation.recoverable(error.kind) || isAdded(error)

  private def isAdded(error: ServiceException): Boolean = alsoRecoverable.nonEmpty &&
    (alsoRecoverable(error.errorCode) || RetryRules.causes(error).exists { cause =>
      alsoRecoverable(cause.getClass.getName) || alsoRecoverable(cause.getClass.getSimpleName)
    })
}

object RetryRules {

  /** Nothing besides what the operations themselves name. */
  val Default: RetryRules = RetryRules(Set.empty)

  def of(options: Options): RetryRules = RetryRules(options.get(RetryOptions.recoverableErrors).getOrElse(Set.empty))

  /** More than any chain that is not a circle. */
  private val LongestChain = 32

  private def causes(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error.getCause)(_.getCause).takeWhile(_ != null).take(LongestChain)
}
