package org.sparkkinesis.plan.offset

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamShard, UserRecord}

/** The position up to which a shard was planned. */
sealed trait ShardPosition {

  /** Position at which reading continues; empty if the shard is finished. */
  def resumeAt: Option[StartingPosition]

  /** The last user record that was planned of the record at `resumeAt`, if a part of that record was planned. */
  def partOfNext: Option[UserRecord] = None

  /**
   * Whether the position exists in this stream only. A stream that is recreated with the same name accepts a position
   * without a sequence number as well.
   */
  def hasNumber: Boolean = resumeAt.forall {
    case _: StartingPosition.AtSequenceNumber | _: StartingPosition.AfterSequenceNumber => true
    case StartingPosition.TrimHorizon | StartingPosition.Latest | _: StartingPosition.AtTimestamp => false
  }
}

object ShardPosition {

  /** The position of a shard of which no record was planned. */
  final case class Start(position: StartingPosition) extends ShardPosition {
    def resumeAt: Option[StartingPosition] = Some(position)
  }

  /**
   * All records up to and including this one were planned, and no other record arrived until `arrivalMillis`. That is
   * the arrival time of the record, or a later time if the shard was idle since.
   */
  final case class After(sequenceNumber: SequenceNumber, arrivalMillis: Long) extends ShardPosition {
    def resumeAt: Option[StartingPosition] = Some(StartingPosition.AfterSequenceNumber(sequenceNumber))
  }

  /**
   * All records before this one were planned, and of this aggregate the user records up to and including
   * `lastSubSequenceNumber`. Only real-time mode ends a batch within an aggregate.
   */
  final case class Within(sequenceNumber: SequenceNumber, lastSubSequenceNumber: Long, arrivalMillis: Long)
      extends ShardPosition {
    def resumeAt: Option[StartingPosition] = Some(StartingPosition.AtSequenceNumber(sequenceNumber))
    override def partOfNext: Option[UserRecord] = Some(UserRecord(sequenceNumber, lastSubSequenceNumber))
  }

  /** The shard is closed and all its records were planned. */
  case object ShardEnd extends ShardPosition {
    def resumeAt: Option[StartingPosition] = None
  }

  val Horizon: ShardPosition = Start(StartingPosition.TrimHorizon)
}

/**
 * The identity of a stream and the positions of its shards.
 *
 * @param arn
 *   ARN of the stream, or its name if the service provides no ARN
 * @param creationMillis
 *   creation time of the stream, which differs if it is deleted and recreated with the same name
 * @param begun
 *   arrival times of the first records of the batch that ends here, for shards in which the batch starts without the
 *   position of a record, or after one that arrived more than an hour before, and for all shards of a stream that
 *   returns with the batch. If the batch runs again, they show whether those records may have expired.
 * @param since
 *   for shards whose positions have no time: times before which no record arrived that is still to be read, neither in
 *   the shard nor in its descendants. After a restart they show whether such records may have expired.
 * @param phase
 *   whether the stream is read; one that is not named by a metadata service any more is parked at last
 */
final case class StreamOffset(
    name: String,
    arn: String,
    creationMillis: Long,
    shards: SortedMap[ShardId, ShardPosition],
    begun: SortedMap[ShardId, Long] = SortedMap.empty,
    since: SortedMap[ShardId, Long] = SortedMap.empty,
    phase: StreamPhase = StreamPhase.Active
) {

  /** Whether the stream is not read. */
  def isParked: Boolean = phase.isInstanceOf[StreamPhase.Parked]

  /** Whether the stream is parked, and every record was read that it had then. */
  def isParkedDrained: Boolean = phase match {
    case StreamPhase.Parked(_, isDrained) => isDrained
    case _ => false
  }

  /** Whether the stream is parked, since a time before this one in epoch milliseconds. */
  def isParkedBefore(millis: Long): Boolean = phase match {
    case StreamPhase.Parked(at, _) => at < millis
    case _ => false
  }

  /** The shards that are not read to their end. */
  def unfinished: Iterator[StreamShard] =
    shards.iterator.collect { case (id, position) if position != ShardPosition.ShardEnd => StreamShard(arn, id) }

  /** A time before which every record was planned, or `None` if it is unknown. */
  def readUntil(shard: ShardId): Option[Long] = shards.get(shard).flatMap(IdleTime.of).orElse(since.get(shard))

  /** Whether the expiry of records can be noticed in every shard that is not finished. */
  def isTimed: Boolean = shards.forall { case (shard, position) => isTimed(shard, position) }

  /** Returns the offset with this time for every position without one. */
  def timed(millis: Long): StreamOffset =
    copy(since = since ++ shards.iterator.collect { case (id, position) if !isTimed(id, position) => id -> millis })

  /** Returns the offset with the times of another one for positions without a time that both have. */
  def timedAs(other: Option[StreamOffset]): StreamOffset = {
    val known = for {
      (id, position) <- shards.iterator if !isTimed(id, position)
      that <- other if that.shards.get(id).contains(position)
      millis <- that.since.get(id)
    } yield id -> millis
    copy(since = since ++ known)
  }

  /**
   * Returns the offset with no time before this one, for a stream that got no record before. Positions that are times
   * become the oldest record.
   */
  def noEarlierThan(millis: Long): StreamOffset = {
    val starts = shards.iterator.collect {
      case (id, ShardPosition.Start(StartingPosition.AtTimestamp(from))) if from < millis => id -> millis
    }.toMap
    copy(
      shards = shards.transform {
        case (id, _: ShardPosition.Start) if starts.contains(id) => ShardPosition.Horizon
        case (_, ShardPosition.After(number, until)) => ShardPosition.After(number, math.max(until, millis))
        case (_, ShardPosition.Within(number, part, until)) =>
          ShardPosition.Within(number, part, math.max(until, millis))
        case (_, other) => other
      },
      since = since.transform((_, known) => math.max(known, millis)) ++ starts
    )
  }

  private def isTimed(shard: ShardId, position: ShardPosition): Boolean = position match {
    case _: ShardPosition.After | _: ShardPosition.Within | ShardPosition.ShardEnd => true
    case _: ShardPosition.Start => readUntil(shard).nonEmpty
  }
}

/**
 * The end of a micro-batch and the start of the next one, exact for every active shard of every stream.
 *
 * A shard is removed when it is finished and all its children are present.
 *
 * @param streams
 *   streams by ARN
 * @param version
 *   number of the last entry of the metadata log whose streams the offset has; 0 without a metadata log
 */
final case class SourceOffset(streams: SortedMap[String, StreamOffset], version: Long = 0) {

  /** The streams that are read. */
  def read: Iterator[StreamOffset] = streams.valuesIterator.filterNot(_.isParked)

  /** Whether the expiry of records can be noticed in every shard that is not finished. */
  def isTimed: Boolean = read.forall(_.isTimed)

  /**
   * Returns the offset with times for every position without one; `oldestMillis` returns that of a stream's records.
   */
  def timed(oldestMillis: String => Long): SourceOffset = copy(streams = streams.map { case (arn, stream) =>
    arn -> (if (stream.isParked) stream else stream.timed(math.max(stream.creationMillis, oldestMillis(arn))))
  })
}

object SourceOffset {
  def apply(streams: Iterable[StreamOffset]): SourceOffset = SourceOffset(streams.map(s => s.arn -> s).to(SortedMap))
}
