package org.sparkkinesis.event

import java.time.Instant

import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors}
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.service.ServiceException

/**
 * Records that no longer exist and that a query had not read. Each kind defines the event and the error that users see
 * of it; [[Losses]] reports them. What is promised for each kind is in `docs/guarantees.md`.
 */
sealed abstract class Loss {

  /** @param endsQuery whether the query fails because of the loss */
  def event(endsQuery: Boolean): QueryEvent

  def error: KinesisConnectorException
}

object Loss {

  /**
   * Records of one shard are lost.
   *
   * @param name
   *   the stream in the message of the error
   */
  sealed abstract class OfShard(where: StreamShard, name: String, reason: String, cause: String) extends Loss {
    override def event(endsQuery: Boolean): QueryEvent = DataLost(where.stream, where.shard, reason, endsQuery)
    override def error: KinesisConnectorException =
      ReadErrors.dataLoss(shard = where.shard.value, stream = name, reason = reason, cause = cause)
  }

  /**
   * Records after a position expired.
   *
   * @param what
   *   how far the shard was read, and when
   */
  final case class Expired(shard: StreamShard, name: String, what: String, retentionHours: Long) extends OfShard(
        shard,
        name,
        s"$what, and the stream keeps $retentionHours hours",
        "The query was stopped, or behind, for longer than the stream keeps its records."
      )

  /** A shard that was not read to its end does not exist any more. No listing names its expired descendants. */
  final case class ShardGone(shard: StreamShard, name: String, answer: ServiceException) extends OfShard(
        shard,
        name,
        "the shard no longer exists and was not read to its end, nor were its descendants that no longer exist",
        s"The service removes a closed shard when its last record expires. Service message: ${answer.detail}"
      ) {
    override def error: KinesisConnectorException = super.error.causedBy(answer)
  }

  /**
   * A shard and its descendants expired, and no listing connects it to the shards that are left.
   *
   * @param left
   *   the oldest remaining shards
   */
  final case class LineageLost(shard: StreamShard, name: String, left: Seq[ShardId]) extends OfShard(
        shard,
        name,
        "of the shard and its descendants, " +
          (if (left.isEmpty) "nothing is left" else s"only ${left.mkString(", ")} and their children are left"),
        "The shards between expired since the query last read the stream."
      )

  /** A part of the range that a task reads is missing. */
  final case class RangeMissing(shard: StreamShard, reason: String, cause: String)
      extends OfShard(shard, shard.stream, reason, cause)

  /** A stream was deleted that was not read to its end. */
  final case class StreamDeleted(shard: StreamShard, name: String, cause: String, answer: Throwable) extends OfShard(
        shard,
        name,
        "the stream was deleted before it was read to its end",
        cause
      ) {
    override def error: KinesisConnectorException = super.error.causedBy(answer)
  }

  /** A stream was deleted that was not read to its end, and another one has its name. Times are epoch milliseconds. */
  final case class StreamReplaced(stream: String, name: String, oldMillis: Long, newMillis: Long) extends Loss {
    override def event(endsQuery: Boolean): QueryEvent = StreamRecreated(stream, oldMillis, newMillis, endsQuery)
    override def error: KinesisConnectorException = ReadErrors.streamRecreated(
      stream = name,
      checkpointCreation = Instant.ofEpochMilli(oldMillis).toString,
      creation = Instant.ofEpochMilli(newMillis).toString
    )
  }

  /** The children of a recreated stream's shard were read before the shard, so it may not have been read first. */
  final case class ParentPassed(shard: StreamShard, name: String) extends OfShard(
        shard,
        name,
        "the shard's children were read, and the shard may not have been read before them",
        "The query read the shard's children before it noticed that the stream was recreated."
      )

  /** User records of a recreated stream were filtered by hash keys that its shards do not have. */
  final case class WronglyFiltered(shard: StreamShard, name: String) extends OfShard(
        shard,
        name,
        "user records of a recreated stream were filtered by the hash key ranges of the old shards",
        "The query read the shard before it noticed that the stream was recreated."
      )
}

/**
 * Reports each loss of one read: as an event, and by the option `failOnDataLoss` as an error or a warning, after which
 * reading continues with the remaining records. As thread-safe as `emit`.
 *
 * @param endsQuery
 *   whether a loss is an error
 * @param emit
 *   receives the event of each loss
 * @param warn
 *   called for a loss that is not an error, in addition to the event
 */
final class Losses(val endsQuery: Boolean, emit: ConnectorEvent => Unit, warn: KinesisConnectorException => Unit) {

  /** @throws KinesisConnectorException the loss, if it ends the query */
  def report(loss: Loss): Unit = {
    emit(loss.event(endsQuery))
    if (endsQuery) throw loss.error else warn(loss.error)
  }

  /** These losses, with events that another function receives. */
  def to(receiver: ConnectorEvent => Unit): Losses = new Losses(endsQuery, receiver, warn)
}

object Losses {

  /** Throws every loss, without an event. */
  val Strict = new Losses(endsQuery = true, _ => (), _ => ())
}
