package org.sparkkinesis.sink

import org.sparkkinesis.sink.limit.RateLimitingException

/** The reason why a writer failed. Entries written after the last successful `flush` may be lost. */
sealed abstract class SinkException(message: String, cause: Throwable) extends RuntimeException(message, cause)

object SinkException {

  /** Converts a failure to a [[SinkException]]. */
  def of(failure: Throwable): SinkException = failure match {
    case known: SinkException => known
    case strategy: RateLimitingException => new RateLimitingFailedException(strategy)
    case other => new FatalSinkException(other)
  }
}

/** The destination rejected an entry permanently, or could not be used. */
final class FatalSinkException(cause: Throwable) extends SinkException(cause.getMessage, cause)

/** The rate limiting strategy threw an exception or violated its contract. */
final class RateLimitingFailedException(cause: RateLimitingException) extends SinkException(cause.getMessage, cause)

/**
 * An entry exceeded its number of attempts, or the destination accepted nothing for the delivery timeout.
 *
 * @param attempts
 *   number of times that the entry was sent
 * @param waitedMillis
 *   milliseconds since `write`, or since the destination last accepted an entry, if that is later
 * @param lastReason
 *   last response of the destination; empty if there was none
 */
final class DeliveryFailedException(val attempts: Int, val waitedMillis: Long, val lastReason: String)
    extends SinkException(
      s"an entry was not accepted in $attempts attempts over $waitedMillis ms; last response: ${if (lastReason.isEmpty)
          "none"
        else lastReason}",
      null
    )

/**
 * The destination has accepted nothing for too long, although entries were sent.
 *
 * @param waitedMillis
 *   milliseconds since the first request that was not accepted
 */
final class DestinationStalledException(val waitedMillis: Long)
    extends SinkException(s"the destination accepted no entry for $waitedMillis ms", null)

/** The owner writes to another destination, because newer routes name one and this one accepts nothing. */
final class DestinationReplacedException
    extends SinkException("it accepts no record, and a newer version of the metadata names another stream", null)

/** Another writer of the task has failed, so there will never be room for more. */
final class OtherWriterFailedException(val failure: SinkException)
    extends SinkException(s"another writer of the task has failed: ${failure.getMessage}", failure)

/** The writer was used after `close`. */
final class SinkClosedException extends SinkException("the writer is closed", null)
