package org.sparkkinesis.retry

import org.sparkkinesis.service.ServiceErrorKind._
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}

/**
 * Which failures of which operation are worth the same call again; whatever is not listed is final.
 *
 * What an operation does about the others (a new iterator, a new listing) is its own business.
 *
 * @param alsoRecoverable
 *   what a user wants retried as well: the service's error codes, or names of exception classes, with or without their package
 */
final case class RetryRules(alsoRecoverable: Set[String] = Set.empty) {
  def isRecoverable(error: ServiceException): Boolean =
    RetryRules.recoverable(error.operation).contains(error.kind) || isAdded(error)

  private def isAdded(error: ServiceException): Boolean = alsoRecoverable.nonEmpty &&
    (alsoRecoverable(error.errorCode) || RetryRules.causes(error).exists { cause =>
      alsoRecoverable(cause.getClass.getName) || alsoRecoverable(cause.getClass.getSimpleName)
    })
}

object RetryRules {
  val Default: RetryRules = RetryRules()

  /** More than any chain that is not a circle. */
  private val LongestChain = 32

  private def causes(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error.getCause)(_.getCause).takeWhile(_ != null).take(LongestChain)

  /** Nothing is known to be wrong with the request: the service was busy, failing, or not reached. */
  private val transient: Set[ServiceErrorKind] = Set(Throttled, Internal, Network)

  /** Control-plane operations say LimitExceeded where the data plane says Throttled. */
  private val control: Set[ServiceErrorKind] = transient + LimitExceeded

  private val table: Map[String, Set[ServiceErrorKind]] = Map(
    "GetRecords" -> transient,
    "GetShardIterator" -> transient,
    // ResourceInUse: the stream is being made or changed.
    "ListShards" -> (control + ResourceInUse),
    "ListStreams" -> control,
    "DescribeStreamSummary" -> control,
    // ResourceInUse: another subscription is younger than five seconds, or the consumer is not yet active.
    "SubscribeToShard" -> (control + ResourceInUse),
    "RegisterStreamConsumer" -> control,
    "DeregisterStreamConsumer" -> control,
    "DescribeStreamConsumer" -> control,
    "ListStreamConsumers" -> control
  )

  def recoverable(operation: String): Set[ServiceErrorKind] = table.getOrElse(operation, transient)
}
