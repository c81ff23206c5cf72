package org.sparkkinesis.sink

import org.sparkkinesis.sink.limit.RateLimitingException

/** Why a writer gave up. Nothing that was written after the last successful `flush` may be taken for stored. */
sealed abstract class SinkException(message: String, cause: Throwable) extends RuntimeException(message, cause)

object SinkException {

  /** A failure as one of these. */
  def of(failure: Throwable): SinkException = failure match {
    case known: SinkException => known
    case strategy: RateLimitingException => new RateLimitingFailedException(strategy)
    case other => new FatalSinkException(other)
  }
}

/** The destination refused an entry for good, or could not be used. */
final class FatalSinkException(cause: Throwable) extends SinkException(cause.getMessage, cause)

/** The rate limiting strategy threw an exception, or did what it may not do. */
final class RateLimitingFailedException(cause: RateLimitingException) extends SinkException(cause.getMessage, cause)

/**
 * An entry used up its attempts or its time.
 *
 * @param attempts
 *   how often it was sent
 * @param waitedMillis
 *   since it was written
 * @param lastReason
 *   what the destination said last; empty when it never answered
 */
final class DeliveryFailedException(val attempts: Int, val waitedMillis: Long, val lastReason: String)
    extends SinkException(
      s"an entry was not accepted in $attempts attempts over $waitedMillis ms; last answer: ${if (lastReason.isEmpty)
          "none"
        else lastReason}",
      null
    )

/** Another writer of the task has failed, so there will never be room for more. */
final class OtherWriterFailedException(val failure: SinkException)
    extends SinkException(s"another writer of the task has failed: ${failure.getMessage}", failure)

/** The writer was used after `close`. */
final class SinkClosedException extends SinkException("the writer is closed", null)
