package org.sparkkinesis.emulator.action.call

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.{SequenceNumbers, ShardLog}
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}

/** Reads the five types of starting positions and finds them in a shard. */
private[action] object StartPositions {
  val Types: Seq[String] =
    Seq("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP", "TRIM_HORIZON", "LATEST")

  def read(kind: String, number: Option[String], timestamp: Option[Long], now: Long): StartingPosition = {
    def sequenceNumber: SequenceNumber = number
      .flatMap(SequenceNumber.parse)
      .getOrElse(throw ServiceError.invalidArgument(s"A sequence number must be given for the type $kind."))
    kind match {
      case "AT_SEQUENCE_NUMBER" => StartingPosition.AtSequenceNumber(sequenceNumber)
      case "AFTER_SEQUENCE_NUMBER" => StartingPosition.AfterSequenceNumber(sequenceNumber)
      case "AT_TIMESTAMP" =>
        val time =
          timestamp.getOrElse(throw ServiceError.invalidArgument(s"Timestamp must be given for the type $kind."))
        if (time > now)
          throw ServiceError.invalidArgument(s"The timestamp $time must not be in the future; right now it is $now.")
        StartingPosition.AtTimestamp(time)
      case "LATEST" => StartingPosition.Latest
      case _ => StartingPosition.TrimHorizon
    }
  }

  /** Returns the seqIx of the last record before the position. */
  def resolve(stream: DataStream, shard: ShardLog, position: StartingPosition, operation: String): Long =
    position match {
      case StartingPosition.TrimHorizon => -1
      case StartingPosition.Latest => shard.tipSeqIx
      case StartingPosition.AtTimestamp(millis) => shard.seqIxBefore(millis)
      case StartingPosition.AtSequenceNumber(number) => seqIx(stream, shard, number.value, operation) - 1
      case StartingPosition.AfterSequenceNumber(number) => seqIx(stream, shard, number.value, operation)
    }

  private def seqIx(stream: DataStream, shard: ShardLog, number: String, operation: String): Long = {
    def invalid(why: String): ServiceError = ServiceError.invalidArgument(
      s"StartingSequenceNumber $number used in $operation on shard ${shard.id} in stream ${stream.name} under " +
        s"account ${stream.account} is invalid$why."
    )
    val parts = SequenceNumbers.decode(number).getOrElse(throw invalid(""))
    if (parts.shardIndex != shard.index)
      throw ServiceError.invalidArgument(
        s"Invalid StartingSequenceNumber. It encodes ${ShardId.ofIndex(parts.shardIndex)}, while it was used in a " +
          s"call to a shard with ${shard.id}"
      )
    val isEnd = parts.seqIx == SequenceNumbers.EndSeqIx && !shard.isOpen
    if (parts.shardCreatedSeconds != shard.createdSeconds || (parts.seqIx > shard.tipSeqIx && !isEnd))
      throw invalid(" because it did not come from this stream")
    parts.seqIx
  }
}
