package org.sparkkinesis.retry

import org.sparkkinesis.config.{Options, RetryOptions}
import org.sparkkinesis.service.ServiceException

/**
 * Decides which failures are retried: those of the operation, and those that the user adds.
 *
 * @param alsoRecoverable
 *   additional failures: error codes of the service, or class names of exceptions with or without package
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

  /** The rules of the operations without additions. */
  val Default: RetryRules = RetryRules(Set.empty)

  def of(options: Options): RetryRules = RetryRules(options.get(RetryOptions.recoverableErrors).getOrElse(Set.empty))

  /** Maximum number of causes to inspect, in case the causes form a cycle. */
  private val MaxCauses = 32

  private def causes(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error.getCause)(_.getCause).takeWhile(_ != null).take(MaxCauses)
}
