package org.sparkkinesis.config.value

import java.time.Instant
import java.util.Locale

import scala.collection.immutable.ListMap

import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{SequenceNumber, ShardId}
import org.sparkkinesis.suite.TimedSuite

class PositionOptionSuite extends TimedSuite {
  private val number = "49674026002760985237755885761747339499393848411775041538"
  private val noon = Instant.parse("2026-11-20T12:00:00Z").toEpochMilli
  private val first = ShardId.ofIndex(0)

  private val understood = Seq(
    "latest" -> PositionOption(Latest),
    "LATEST" -> PositionOption(Latest),
    " trim_horizon " -> PositionOption(TrimHorizon),
    "TRIM_HORIZON" -> PositionOption(TrimHorizon),
    "earliest" -> PositionOption(TrimHorizon),
    "2026-11-20T12:00:00Z" -> PositionOption(AtTimestamp(noon)),
    "2026-11-20T13:00:00+01:00" -> PositionOption(AtTimestamp(noon)),
    "2026-11-20T12:00:00.250Z" -> PositionOption(AtTimestamp(noon + 250)),
    """{"at_timestamp": "2026-11-20T12:00:00Z"}""" -> PositionOption(AtTimestamp(noon)),
    """{"AT_TIMESTAMP": "2026-11-20T12:00:00Z"}""" -> PositionOption(AtTimestamp(noon)),
    s"""{"at_timestamp": $noon}""" -> PositionOption(AtTimestamp(noon)),
    """{"at_timestamp": "20/11/2026 12:00:00", "format": "dd/MM/yyyy HH:mm:ss"}""" -> PositionOption(AtTimestamp(noon)),
    """{"at_timestamp": "20/11/2026 07:00:00 -0500", "format": "dd/MM/yyyy HH:mm:ss Z"}""" ->
      PositionOption(AtTimestamp(noon)),
    s"""{"at_sequence_number": "$number"}""" -> PositionOption(AtSequenceNumber(SequenceNumber(number))),
    """{"shardId-000000000000": "latest"}""" -> PositionOption(TrimHorizon, ListMap(first -> Latest)),
    s"""{"shardId-000000000000": {"after_sequence_number": "$number"}, "*": "latest"}""" ->
      PositionOption(Latest, ListMap(first -> AfterSequenceNumber(SequenceNumber(number)))),
    s"""{"shardId-000000000000": {"at_timestamp": $noon}, "shardId-000000000001": "earliest"}""" ->
      PositionOption(TrimHorizon, ListMap(first -> AtTimestamp(noon), ShardId.ofIndex(1) -> TrimHorizon))
  )

  private val refused = Seq(
    "now" ->
      ("'now' is neither latest, trim_horizon, earliest, nor a time such as 2026-11-20T12:00:00Z, " +
        "'2026-11-20 12:00', '1 hour ago' or 1795176000000."),
    "2026-11-20T12:00:00" -> "'2026-11-20T12:00' has no time zone; write for example 2026-11-20T12:00Z.",
    "1 hour ago" -> "'-PT1H' depends on when a query starts; write a time instead.",
    """{"orders": "latest"}""" -> "It has a position for each stream, and this is a position of one stream.",
    "{}" -> "The object is empty.",
    """{"at_timestamp": true}""" -> "true is neither a string nor epoch milliseconds.",
    """{"at_timestamp": -1}""" -> "-1 is neither a string nor epoch milliseconds.",
    """{"at_timestamp": 5, "format": "yyyy"}""" -> "With a format, at_timestamp must be a string.",
    """{"at_sequence_number": 12}""" -> "12 is not a quoted sequence number.",
    """{"at_sequence_number": "012"}""" -> "\"012\" is not a quoted sequence number.",
    """{"a shard": "latest"}""" -> "'a shard' is neither a shard id nor a stream.",
    """{"shardId-000000000000": 7}""" ->
      "7 is 1970-01-01T00:00:00.007Z, because a number is in epoch milliseconds, of 13 digits.",
    """{"shardId-000000000000": true}""" -> "true is not a position.",
    """{"shardId-000000000000": {}}""" ->
      "{} must have exactly one of at_timestamp, at_sequence_number, after_sequence_number."
  )

  test("a position is a word, an instant, or JSON for all shards or for each shard") {
    understood.foreach { case (text, position) => assert(PositionOption.parse(text) == Right(position), text) }
  }

  test("an invalid position is rejected with the reason") {
    refused.foreach { case (text, why) => assert(PositionOption.parse(text) == Left(why), text) }
  }

  test("invalid JSON is rejected with the position of the error") {
    assert(PositionOption.parse("""{"at_timestamp": """).swap.exists(_.startsWith("It is not JSON: ")))
    assert(PositionOption.parse("""{"shardId-000000000000": "latest", "shardId-000000000000": "latest"}""").isLeft)
  }

  test("a timestamp that does not fit its format is rejected with both") {
    val why = PositionOption.parse("""{"at_timestamp": "noon", "format": "HH:mm"}""").swap.getOrElse("")
    assert(why.startsWith("'noon' does not fit the format 'HH:mm': "), why)
    assert(PositionOption.parse("""{"at_timestamp": "noon", "format": "{"}""").isLeft)
  }

  test("words are matched independently of the locale") {
    val before = Locale.getDefault
    Locale.setDefault(Locale.forLanguageTag("tr"))
    try assert(PositionOption.parse("TRIM_HORIZON") == Right(PositionOption(TrimHorizon)))
    finally Locale.setDefault(before)
  }

  test("a shard without its own position has the default position") {
    val position = PositionOption(Latest, ListMap(first -> TrimHorizon))
    assert(position.of(first) == TrimHorizon)
    assert(position.of(ShardId.ofIndex(9)) == Latest)
  }
}
