package org.sparkkinesis.config.value

import scala.collection.immutable.ListMap

import org.sparkkinesis.json.Json
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{ShardId, StartingPosition}

/** The position of a shard as a user writes it. */
sealed trait WrittenPosition {
  def at(reference: TimeReference): StartingPosition

  /** Whether the position depends on the time when the query first started. */
  def isFromStart: Boolean
}

object WrittenPosition {
  final case class Fixed(position: StartingPosition) extends WrittenPosition {
    override def at(reference: TimeReference): StartingPosition = position
    override def isFromStart: Boolean = position == Latest
  }
  final case class AtTime(time: TimeOption) extends WrittenPosition {
    override def at(reference: TimeReference): StartingPosition = AtTimestamp(time.millis(reference))
    override def isFromStart: Boolean = time match {
      case TimeOption.Ago(_) => true
      case _ => false
    }
  }
}

/**
 * The positions of one stream as a user writes them.
 *
 * @param default
 *   position of the shards that `shards` does not name
 */
final case class WrittenShards(
    default: WrittenPosition,
    shards: ListMap[ShardId, WrittenPosition] = ListMap.empty[ShardId, WrittenPosition]
) {
  def at(reference: TimeReference): PositionOption =
    PositionOption(default.at(reference), shards.map { case (shard, one) => shard -> one.at(reference) })

  /** Whether a position depends on the time when the query first started. */
  def isFromStart: Boolean = default.isFromStart || shards.values.exists(_.isFromStart)
}

/**
 * Positions as a user writes them: one for all streams, or one for each stream, of which each may be one for all shards
 * or for each shard. Times may refer to the session's time zone and to the start of the query.
 *
 * @param default
 *   position of the streams that `streams` does not name; without it, they have the default of the option
 * @param streams
 *   positions by the name or the ARN of a stream
 */
final case class StreamPositions(
    default: Option[WrittenShards],
    streams: ListMap[String, WrittenShards] = ListMap.empty[String, WrittenShards]
) {

  /** Returns the position of a stream; its ARN takes precedence over its name. */
  def of(arn: String, name: String): Option[WrittenShards] =
    streams.get(arn).orElse(streams.get(name)).orElse(default)

  def isFromStart: Boolean = (default ++ streams.values).exists(_.isFromStart)

  override def toString: String =
    if (streams.isEmpty) default.fold("")(StreamPositions.text)
    else {
      val named = streams.toSeq.map { case (name, one) => name -> StreamPositions.json(one) }
      Json.render(Json.obj(named ++ default.map("*" -> StreamPositions.json(_)): _*))
    }
}

object StreamPositions {
  private val Expected =
    "latest, trim_horizon (or earliest), a time such as 2026-11-20T12:00:00Z or '2026-11-20 12:00' (in the session's " +
      "time zone), a time before the first start such as '1 hour ago' or -PT1H, epoch milliseconds, " +
      "{\"at_timestamp\": \"…\", \"format\": \"…\"}, or a JSON object with a position for each shard or stream, such " +
      "as {\"shardId-000000000000\": {\"after_sequence_number\": \"…\"}, \"*\": \"trim_horizon\"} or " +
      "{\"orders\": \"latest\", \"clicks\": \"1 hour ago\", \"*\": \"trim_horizon\"}"

  val optionType: OptionType.Parsed[StreamPositions] =
    OptionType.Parsed[StreamPositions](Expected, _.toString, "str | int | datetime | Mapping[str, Any]")(parse)

  def parse(text: String): Either[String, StreamPositions] = PositionParser.parse(text)

  private def text(of: WrittenShards): String = json(of) match {
    case Json.Str(word) => word
    case other => Json.render(other)
  }

  private def json(of: WrittenShards): Json =
    if (of.shards.isEmpty) json(of.default)
    else Json.obj(of.shards.toSeq.map { case (shard, one) => shard.value -> json(one) } :+ "*" -> json(of.default): _*)

  private def json(of: WrittenPosition): Json = of match {
    case WrittenPosition.AtTime(time) => Json.Str(time.toString)
    case WrittenPosition.Fixed(Latest) => Json.Str("latest")
    case WrittenPosition.Fixed(TrimHorizon) => Json.Str("trim_horizon")
    case WrittenPosition.Fixed(AtTimestamp(millis)) => Json.Str(TimeOption.At(millis).toString)
    case WrittenPosition.Fixed(AtSequenceNumber(number)) =>
      Json.obj("at_sequence_number" -> Json.Str(number.toString))
    case WrittenPosition.Fixed(AfterSequenceNumber(number)) =>
      Json.obj("after_sequence_number" -> Json.Str(number.toString))
  }
}
