package org.sparkkinesis.config.value

import java.time.{Instant, OffsetDateTime}
import java.util.Locale

import scala.collection.immutable.ListMap
import scala.util.Try

import org.sparkkinesis.json.Json
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}

/**
 * A position as a user writes it: one for all shards, or one for each shard.
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

  def parse(text: String): Either[String, PositionOption] = text.trim match {
    case document if document.startsWith("{") =>
      Json.parse(document).left.map(why => s"It is not JSON: $why.").flatMap(fromJson)
    case word => simple(word).map(PositionOption(_))
  }

  private def simple(word: String): Either[String, StartingPosition] = word.toLowerCase(Locale.ROOT) match {
    case "latest" => Right(StartingPosition.Latest)
    case "trim_horizon" | "earliest" => Right(StartingPosition.TrimHorizon)
    case _ => instant(word).map(StartingPosition.AtTimestamp(_))
  }

  private def instant(text: String): Either[String, Long] =
    Try(OffsetDateTime.parse(text).toInstant)
      .orElse(Try(Instant.parse(text)))
      .toOption
      .map(_.toEpochMilli)
      .toRight(s"'$text' is neither latest, trim_horizon, earliest, nor an ISO-8601 instant with its offset.")

  private def fromJson(json: Json): Either[String, PositionOption] = json match {
    case Json.Obj(fields) if fields.keys.exists(name => Words(name.toLowerCase(Locale.ROOT))) =>
      one(json).map(PositionOption(_))
    case Json.Obj(fields) if fields.nonEmpty =>
      val (defaults, named) = fields.partition(_._1 == "*")
      for {
        shards <- named.foldLeft[Either[String, ListMap[ShardId, StartingPosition]]](Right(ListMap.empty)) {
          case (done, (id, value)) =>
            for {
              map <- done
              _ <- Either.cond(ShardName.matches(id), (), s"'$id' is not a shard id.")
              position <- one(value)
            } yield map + (ShardId(id) -> position)
        }
        default <- defaults.headOption.map(entry => one(entry._2)).getOrElse(Right(StartingPosition.TrimHorizon))
      } yield PositionOption(default, shards)
    case _ => Left("The object is empty.")
  }

  private val Words = Set("at_timestamp", "at_sequence_number", "after_sequence_number", "format")
  private val ShardName = "[a-zA-Z0-9_.-]{1,128}".r

  private def one(json: Json): Either[String, StartingPosition] = json match {
    case Json.Str(word) => simple(word)
    case Json.Obj(raw) =>
      val fields = raw.map { case (name, value) => name.toLowerCase(Locale.ROOT) -> value }
      val format = fields.get("format").flatMap(_.asString)
      (fields - "format").toSeq match {
        case Seq(("at_timestamp", value)) => timestamp(value, format).map(StartingPosition.AtTimestamp(_))
        case Seq(("at_sequence_number", value)) => number(value).map(StartingPosition.AtSequenceNumber(_))
        case Seq(("after_sequence_number", value)) => number(value).map(StartingPosition.AfterSequenceNumber(_))
        case _ => Left(
            s"${Json.render(json)} must have exactly one of at_timestamp, at_sequence_number, after_sequence_number."
          )
      }
    case other => Left(s"${Json.render(other)} is not a position.")
  }

  private def number(json: Json): Either[String, SequenceNumber] =
    json.asString.flatMap(SequenceNumber.parse).toRight(s"${Json.render(json)} is not a quoted sequence number.")

  /** Parses an ISO-8601 text, a text in the given format, or a number of epoch milliseconds. */
  private def timestamp(json: Json, format: Option[String]): Either[String, Long] = (json, format) match {
    case (Json.Str(text), None) => instant(text)
    case (Json.Str(text), Some(pattern)) =>
      TimestampFormat.parse(text, pattern).map(_.toEpochMilli)
    case (number, None) =>
      number.asLong.filter(_ >= 0).toRight(s"${Json.render(number)} is neither a string nor epoch milliseconds.")
    case _ => Left("With a format, at_timestamp must be a string.")
  }
}
