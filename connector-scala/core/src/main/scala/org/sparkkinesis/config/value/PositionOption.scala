package org.sparkkinesis.config.value

import java.time.ZoneOffset

import scala.collection.immutable.ListMap

import org.sparkkinesis.model.{ShardId, StartingPosition}

/**
 * The position of one stream: one for all shards, or one for each shard.
 *
 * @param default
 *   position of the shards that `shards` does not name
 */
final case class PositionOption(default: StartingPosition, shards: ListMap[ShardId, StartingPosition] = ListMap.empty) {
  def of(shard: ShardId): StartingPosition = shards.getOrElse(shard, default)
}

object PositionOption {
  private val Expected =
    "latest, trim_horizon (or earliest), an ISO-8601 instant, {\"at_timestamp\": \"…\", \"format\": \"…\"}, or a " +
      "JSON object with a position for each shard, such as {\"shardId-000000000000\": " +
      "{\"after_sequence_number\": \"…\"}, \"*\": \"trim_horizon\"}"

  val optionType: OptionType.Parsed[PositionOption] =
    OptionType.Parsed[PositionOption](Expected, _.toString, "str | datetime | Mapping[str, Any]")(parse)

  /** Parses a position that depends neither on a session nor on the start of a query. A format is in UTC. */
  def parse(text: String): Either[String, PositionOption] = PositionParser.parse(text).flatMap {
    case StreamPositions(Some(one), streams) if streams.isEmpty =>
      val written = (one.default +: one.shards.values.toSeq).collect { case WrittenPosition.AtTime(time) => time }
      written.collectFirst {
        case ago: TimeOption.Ago => Left(s"'$ago' depends on when a query starts; write a time instead.")
        case local: TimeOption.Local if !text.contains("format") =>
          Left(s"'$local' has no time zone; write for example ${local}Z.")
      }.getOrElse(Right(one.at(TimeReference(ZoneOffset.UTC, nowMillis = 0))))
    case _ => Left("It has a position for each stream, and this is a position of one stream.")
  }
}
