package org.sparkkinesis.config.value

import java.util.Locale

import scala.collection.immutable.ListMap

import org.sparkkinesis.config.value.WrittenPosition.{AtTime, Fixed}
import org.sparkkinesis.json.Json
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamRef}

/** Parses positions: words, times, and JSON. */
private[value] object PositionParser {
  private type Parsed[A] = Either[String, A]

  def parse(text: String): Parsed[StreamPositions] = text.trim match {
    case document if document.startsWith("{") =>
      Json.parse(document).left.map(why => s"It is not JSON: $why.").flatMap(positions)
    case word => simple(word).map(one => StreamPositions(Some(WrittenShards(one))))
  }

  private def simple(word: String): Parsed[WrittenPosition] = word.toLowerCase(Locale.ROOT) match {
    case "latest" => Right(Fixed(Latest))
    case "trim_horizon" | "earliest" => Right(Fixed(TrimHorizon))
    case _ => TimeOption.parse(word).map(AtTime(_))
  }

  private val Words = Set("at_timestamp", "at_sequence_number", "after_sequence_number", "format")
  private def isOne(fields: Map[String, Json]): Boolean =
    fields.keys.exists(name => Words(name.toLowerCase(Locale.ROOT)))

  /** A shard id begins like this; any other key is the name or the ARN of a stream. */
  private val ShardPrefix = "shardId-"
  private val ShardName = "shardId-[a-zA-Z0-9_.-]{1,120}".r
  private val All = "*"

  private def positions(json: Json): Parsed[StreamPositions] = json match {
    case Json.Obj(fields) if fields.isEmpty => Left("The object is empty.")
    case Json.Obj(fields) =>
      val (shards, streams) = (fields - All).keys.partition(_.startsWith(ShardPrefix))
      if (isOne(fields) || streams.isEmpty && shards.nonEmpty) ofShards(json).map(one => StreamPositions(Some(one)))
      else if (shards.nonEmpty) Left(
        s"'${streams.head}' is a stream, and '${shards.head}' is a shard. Write the shards of a stream into an " +
          s"object of their own, such as {\"${streams.head}\": {\"${shards.head}\": \"latest\"}}."
      )
      else
        each(fields - All) { (name, value) =>
          if (StreamRef.parse(name).isEmpty) Left(s"'$name' is neither a shard id nor a stream.")
          else ofShards(value).map(name -> _)
        }.flatMap { named =>
          fields.get(All).fold[Parsed[Option[WrittenShards]]](Right(None))(ofShards(_).map(Some(_)))
            .map(StreamPositions(_, named))
        }
    case other => Left(s"${Json.render(other)} is not a position.")
  }

  /** Parses the position of one stream: one for all shards, or one for each shard. */
  private def ofShards(json: Json): Parsed[WrittenShards] = json match {
    case Json.Obj(fields) if fields.nonEmpty && !isOne(fields) =>
      for {
        shards <- each(fields - All) { (id, value) =>
          if (ShardName.matches(id)) one(value).map(ShardId(id) -> _) else Left(s"'$id' is not a shard id.")
        }
        default <- fields.get(All).fold[Parsed[WrittenPosition]](Right(Fixed(TrimHorizon)))(one)
      } yield WrittenShards(default, shards)
    case other => one(other).map(WrittenShards(_))
  }

  private def each[K, A](fields: Map[String, Json])(read: (String, Json) => Parsed[(K, A)]): Parsed[ListMap[K, A]] =
    fields.foldLeft[Parsed[ListMap[K, A]]](Right(ListMap.empty[K, A])) { case (done, (name, value)) =>
      done.flatMap(map => read(name, value).map(map + _))
    }

  private def one(json: Json): Parsed[WrittenPosition] = json match {
    case Json.Str(word) => simple(word)
    case Json.Obj(raw) =>
      val fields = raw.map { case (name, value) => name.toLowerCase(Locale.ROOT) -> value }
      val format = fields.get("format").flatMap(_.asString)
      (fields - "format").toSeq match {
        case Seq(("at_timestamp", value)) => timestamp(value, format).map(AtTime(_))
        case Seq(("at_sequence_number", value)) => number(value).map(read => Fixed(AtSequenceNumber(read)))
        case Seq(("after_sequence_number", value)) => number(value).map(read => Fixed(AfterSequenceNumber(read)))
        case _ => Left(
            s"${Json.render(json)} must have exactly one of at_timestamp, at_sequence_number, after_sequence_number."
          )
      }
    case number if number.asLong.isDefined => TimeOption.parse(Json.render(number)).map(AtTime(_))
    case other => Left(s"${Json.render(other)} is not a position.")
  }

  private def number(json: Json): Parsed[SequenceNumber] =
    json.asString.flatMap(SequenceNumber.parse).toRight(s"${Json.render(json)} is not a quoted sequence number.")

  /** Parses a text, a text in the given format, or a number of epoch milliseconds. */
  private def timestamp(json: Json, format: Option[String]): Parsed[TimeOption] = (json, format) match {
    case (Json.Str(text), None) => TimeOption.parse(text)
    case (Json.Str(text), Some(pattern)) => TimestampFormat.parse(text, pattern)
    case (number, None) => number.asLong.filter(_ >= 0).map(TimeOption.At(_)).toRight(
        s"${Json.render(number)} is neither a string nor epoch milliseconds."
      )
    case _ => Left("With a format, at_timestamp must be a string.")
  }
}
