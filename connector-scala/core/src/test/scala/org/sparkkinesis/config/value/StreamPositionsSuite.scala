package org.sparkkinesis.config.value

import java.time.{Instant, ZoneId}

import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}
import org.sparkkinesis.suite.TimedSuite

class StreamPositionsSuite extends TimedSuite {
  private val berlin = ZoneId.of("Europe/Berlin")
  private val start = Instant.parse("2026-11-26T10:00:00Z")
  private val reference = TimeReference(berlin, start.toEpochMilli)
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"

  private def at(text: String): StartingPosition = AtTimestamp(Instant.parse(text).toEpochMilli)

  private def read(text: String): StreamPositions =
    StreamPositions.parse(text).fold(why => throw new IllegalArgumentException(s"$text: $why"), identity)

  private def position(text: String, stream: String = "orders"): Option[PositionOption] =
    read(text).of(arn, stream).map(_.at(reference))

  private val times = Seq(
    "2026-11-20T12:00:00Z" -> "2026-11-20T12:00:00Z",
    "2026-11-20t12:00:00z" -> "2026-11-20T12:00:00Z",
    "2026-11-20T12:00:00.250+01:00" -> "2026-11-20T11:00:00.250Z",
    "2026-11-20T12:00:00-0400" -> "2026-11-20T16:00:00Z",
    "2026-11-20 12:00:00 America/New_York" -> "2026-11-20T17:00:00Z",
    "2026-11-20T12:00:00" -> "2026-11-20T11:00:00Z",
    "2026-11-20 12:00" -> "2026-11-20T11:00:00Z",
    "2026-07-20 12:00" -> "2026-07-20T10:00:00Z",
    "2026-11-20" -> "2026-11-19T23:00:00Z",
    // The clocks go back from 3:00 to 2:00, so this time comes twice, and does not exist in spring.
    "2026-10-25 02:30" -> "2026-10-25T00:30:00Z",
    "2026-03-29 02:30" -> "2026-03-29T01:30:00Z",
    "1795176000000" -> "2026-11-20T12:00:00Z",
    "1 hour ago" -> "2026-11-26T09:00:00Z",
    "90 Minutes ago" -> "2026-11-26T08:30:00Z",
    "2h ago" -> "2026-11-26T08:00:00Z",
    "1 day 12 hours ago" -> "2026-11-24T22:00:00Z",
    "1 week ago" -> "2026-11-19T10:00:00Z",
    "-PT1H" -> "2026-11-26T09:00:00Z",
    "PT-90M" -> "2026-11-26T08:30:00Z",
    "-P1DT1H" -> "2026-11-25T09:00:00Z",
    "-pt10s" -> "2026-11-26T09:59:50Z"
  )

  test("a time has a zone or that of the session, or is relative to the start, or in epoch milliseconds") {
    times.foreach { case (text, instant) =>
      assert(position(text).contains(PositionOption(at(instant))), text)
      val inObject = s"""{"at_timestamp": "$text"}"""
      assert(position(inObject).contains(PositionOption(at(instant))), inObject)
    }
    assert(position("""{"at_timestamp": 1795176000000}""").contains(PositionOption(at("2026-11-20T12:00:00Z"))))
    assert(position("""{"at_timestamp": "20.11.2026 12:00", "format": "dd.MM.yyyy HH:mm"}""").contains(
      PositionOption(at("2026-11-20T11:00:00Z"))
    ))
  }

  test("each stream of a list has its own position, and others have that of '*' or the default of the option") {
    val text =
      """{"orders": "latest", "clicks": {"shardId-000000000000": "1 hour ago", "*": "latest"}, "*": "earliest"}"""
    assert(position(text, "orders").contains(PositionOption(Latest)))
    val clicks = position(text, "clicks").get
    assert(clicks.of(ShardId.ofIndex(0)) == at("2026-11-26T09:00:00Z") && clicks.default == Latest)
    assert(position(text, "others").contains(PositionOption(TrimHorizon)))
    assert(position("""{"orders": "latest"}""", "others") == None)
    assert(position(s"""{"$arn": "latest", "orders": "earliest"}""").contains(PositionOption(Latest)))
    val number = """{"orders": {"after_sequence_number": "7"}, "clicks": 1795176000000}"""
    assert(position(number).contains(PositionOption(AfterSequenceNumber(SequenceNumber("7")))))
    assert(position(number, "clicks").contains(PositionOption(at("2026-11-20T12:00:00Z"))))
    assert(position("""{"*": "latest"}""").contains(PositionOption(Latest)))
    // Names of streams are case-sensitive.
    assert(position("""{"Orders": "latest"}""") == None)
  }

  test("positions know whether they depend on the first start of the query") {
    val yes = Seq("latest", "1 hour ago", "-PT1H", """{"orders": "latest"}""", """{"shardId-000000000000": "2h ago"}""")
    val no = Seq("earliest", "2026-11-20", """{"orders": "earliest"}""", "1795176000000")
    assert(yes.filterNot(read(_).isFromStart) == Nil && no.filter(read(_).isFromStart) == Nil)
  }

  test("positions are shown as a text that means the same") {
    val texts = times.map(_._1) ++
      Seq("latest", "earliest", """{"orders": "latest", "clicks": "1 hour ago", "*": "earliest"}""") ++
      Seq("""{"orders": {"shardId-000000000000": {"at_sequence_number": "7"}, "*": "latest"}}""")
    texts.foreach(text => assert(read(read(text).toString) == read(text), text))
  }

  private val refused = Seq(
    "tomorrow" -> "is neither latest, trim_horizon, earliest, nor a time such as",
    "1795176000" -> "is 1970-01-21T18:39:36Z, because a number is in epoch milliseconds, of 13 digits.",
    "PT1H" -> "'PT1H' is in the future. Write -PT1H for a time before the start.",
    "-P1X" -> "is neither latest",
    "-PT" -> "is not an ISO-8601 duration such as -PT1H30M.",
    "3 months ago" -> "has the unit 'months'. Use seconds, minutes, hours, days or weeks.",
    "2026-13-01" -> "is not a time of the calendar.",
    "2026-11-20 12:00 Mars/Base" -> "has the time zone 'Mars/Base', which is not known.",
    """{"orders": "latest", "shardId-000000000000": "latest"}""" ->
      "'orders' is a stream, and 'shardId-000000000000' is a",
    """{"orders": {"clicks": "latest"}}""" -> "'clicks' is not a shard id.",
    """{"no spaces": "latest"}""" -> "is neither a shard id nor a stream.",
    """{"orders": []}""" -> "[] is not a position."
  )

  test("a position that is not understood is rejected with the reason") {
    refused.foreach { case (text, why) =>
      assert(StreamPositions.parse(text).swap.exists(_.contains(why)), s"$text: ${StreamPositions.parse(text)}")
    }
  }
}
