package org.sparkkinesis.model

/** Position in a shard: the five iterator types of the service. Timestamps are epoch milliseconds. */
sealed trait StartingPosition

object StartingPosition {
  case object TrimHorizon extends StartingPosition
  case object Latest extends StartingPosition
  final case class AtTimestamp(epochMillis: Long) extends StartingPosition
  final case class AtSequenceNumber(sequenceNumber: SequenceNumber) extends StartingPosition
  final case class AfterSequenceNumber(sequenceNumber: SequenceNumber) extends StartingPosition
}
