package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}

/** How far a shard was planned. */
sealed trait ShardPosition {

  /** Where reading goes on; empty when there is nothing left. */
  def resumeAt: Option[StartingPosition]
}

object ShardPosition {

  /** Nothing was planned yet. */
  final case class Start(position: StartingPosition) extends ShardPosition {
    def resumeAt: Option[StartingPosition] = Some(position)
  }

  /**
   * Everything up to and with this record, and whatever arrived until `arrivalMillis`: the record's own arrival, or later when the
   * shard was found idle since.
   */
  final case class After(sequenceNumber: SequenceNumber, arrivalMillis: Long) extends ShardPosition {
    def resumeAt: Option[StartingPosition] = Some(StartingPosition.AfterSequenceNumber(sequenceNumber))
  }

  /** Everything; the shard is closed. */
  case object ShardEnd extends ShardPosition {
    def resumeAt: Option[StartingPosition] = None
  }

  val Horizon: ShardPosition = Start(StartingPosition.TrimHorizon)
}

/**
 * A stream's identity and the positions of its shards.
 *
 * @param arn
 *   or the name, where the service gives no ARN
 * @param creationMillis
 *   tells a stream from one of the same name that was made after its deletion
 */
final case class StreamOffset(
    name: String,
    arn: String,
    creationMillis: Long,
    shards: SortedMap[ShardId, ShardPosition]
)

/**
 * An end of a micro-batch, and the start of the next one: exact, for every live shard of every stream.
 *
 * A shard leaves when it is finished and its children are in.
 *
 * @param streams
 *   by ARN
 */
final case class SourceOffset(streams: SortedMap[String, StreamOffset])

object SourceOffset {
  def apply(streams: Iterable[StreamOffset]): SourceOffset = SourceOffset(streams.map(s => s.arn -> s).to(SortedMap))
}
