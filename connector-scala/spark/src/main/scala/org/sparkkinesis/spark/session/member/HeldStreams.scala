package org.sparkkinesis.spark.session.member

import org.sparkkinesis.error.ServiceErrors
import org.sparkkinesis.event.StreamPending
import org.sparkkinesis.plan.offset.StreamOffset
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.session.StreamSession

/**
 * The streams that a query should read but cannot: they were deleted, or cannot be reached since a restart. The other
 * streams are read meanwhile. Thread-safe.
 */
final private[member] class HeldStreams(session: StreamSession, environment: Environment) {
  private val deleted = new DeletedStreams(session, environment)
  @volatile private var held = Map.empty[String, Boolean]
  @volatile private var absent = Set.empty[String]
  @volatile private var drained = Set.empty[String]

  /** The streams by ARN, and whether every record of them was read. */
  def all: Map[String, Boolean] = held

  def contains(arn: String): Boolean = held.contains(arn)

  /** Whether a stream is held back because it does not exist or is being created, so that it cannot get records. */
  def isAbsent(arn: String): Boolean = absent(arn)

  /**
   * Holds back a stream. A deleted stream that was not read to its end is lost data. One that exists and cannot be read
   * may get records that the query does not see.
   *
   * @param isDrained
   *   whether every record was read until now, as far as the query knows
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS
   */
  def hold(stream: StreamOffset, why: Throwable, isDrained: Boolean): Unit = if (!contains(stream.arn)) {
    if (ServiceErrors.isStreamNotFound(why) && !isDrained) deleted.lost(stream, HeldStreams.Unread, why)
    hold(stream.arn, why, isDrained && ServiceErrors.isAbsent(why))
  }

  /** Holds back a stream that was parked after all its records were read, and that is absent. */
  def holdDrained(arn: String, why: Throwable): Unit = if (!contains(arn)) hold(arn, why, isDrained = true)

  private def hold(arn: String, why: Throwable, isDrained: Boolean): Unit = {
    session.events.emit(StreamPending(arn, String.valueOf(why.getMessage)))
    synchronized {
      held += arn -> isDrained
      if (ServiceErrors.isAbsent(why)) absent += arn
      noteDrained(arn, isDrained)
    }
  }

  /** Records whether every record of a stream was read before the stream did not exist. */
  def noteDrained(arn: String, isDrained: Boolean): Unit =
    synchronized(if (isDrained) drained += arn else drained -= arn)

  /** Whether every record of a stream was read when it was held back last, also if it can be read again. */
  def wasDrained(arn: String): Boolean = drained(arn)

  def release(arn: String): Unit = synchronized {
    held -= arn
    absent -= arn
  }
}

private object HeldStreams {
  val Unread = "The stream was deleted, or is not in the account and region in which the query looks for it."
}
