package org.sparkkinesis.spark.session.member

import org.sparkkinesis.error.ServiceErrors
import org.sparkkinesis.event.StreamPending
import org.sparkkinesis.plan.offset.StreamOffset
import org.sparkkinesis.spark.session.StreamSession

/**
 * The streams that a query should read but cannot: they were deleted, or cannot be reached since a restart. The other
 * streams are read meanwhile. Thread-safe.
 */
final private[member] class HeldStreams(session: StreamSession) {
  import HeldStreams._

  private val deleted = new DeletedStreams(session)
  @volatile private var held = Map.empty[String, Boolean]
  @volatile private var absent = Set.empty[String]

  /** The streams that were read to their ends. */
  private var drained = Map.empty[String, Drained]

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
    if (ServiceErrors.isStreamNotFound(why) && !isDrained) deleted.lost(stream, Unread, why)
    hold(stream.arn, why, isDrained && ServiceErrors.isAbsent(why))
  }

  /** Holds back a stream that was parked after all its records were read, and that is absent. */
  def holdDrained(arn: String, why: Throwable): Unit = if (!contains(arn)) hold(arn, why, isDrained = true)

  private def hold(arn: String, why: Throwable, isDrained: Boolean): Unit = {
    session.events.emit(StreamPending(arn, String.valueOf(why.getMessage)))
    synchronized {
      held += arn -> isDrained
      if (ServiceErrors.isAbsent(why)) absent += arn
      drained = drained.removed(arn) ++ Option.when(isDrained)(arn -> Drained(creationOf(arn), None))
    }
  }

  /** Records whether every record of a stream was read before it was deleted and created again. */
  def noteRecreated(arn: String, isDrained: Boolean): Unit = synchronized {
    drained = drained.removed(arn) ++ Option.when(isDrained)(arn -> Drained(None, creationOf(arn)))
  }

  /**
   * Whether every record of a stream was read when it was held back last, also if it can be read again. That says
   * nothing about the records of a stream that followed it, was found, and was deleted.
   */
  def wasDrained(arn: String): Boolean = synchronized {
    noteFollower(arn)
    drained.get(arn).exists(_.follower.forall(creationOf(arn).contains))
  }

  private def noteFollower(arn: String): Unit = drained.get(arn).filter(_.follower.isEmpty).foreach { known =>
    val now = creationOf(arn)
    if (known.old != now) drained += arn -> known.copy(follower = now)
  }

  private def creationOf(arn: String): Option[Long] = session.streams.get(arn).map(_.creationMillis)

  /**
   * Lets a stream be read again that has been opened. If it is the same stream, it may get records that a later stream
   * does not have.
   */
  def release(arn: String): Unit = synchronized {
    held -= arn
    absent -= arn
    noteFollower(arn)
    if (drained.get(arn).exists(_.follower.isEmpty)) drained -= arn
  }
}

private object HeldStreams {

  /**
   * A stream of which every record was read.
   *
   * @param old
   *   its creation time, if it is known
   * @param follower
   *   the creation time of the stream of that name which was found after it
   */
  final private case class Drained(old: Option[Long], follower: Option[Long])

  val Unread = "The stream was deleted, or is not in the account and region in which the query looks for it."
}
