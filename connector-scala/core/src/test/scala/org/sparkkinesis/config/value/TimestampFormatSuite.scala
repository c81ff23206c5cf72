package org.sparkkinesis.config.value

import java.time.{Instant, ZoneOffset}
import java.util.Locale

import org.sparkkinesis.suite.TimedSuite

class TimestampFormatSuite extends TimedSuite {
  private val databricks = "MM/dd/yyyy HH:mm:ss ZZZ"

  private val understood = Seq(
    ("06/25/2020 10:23:45 PDT", databricks, "2020-06-25T17:23:45Z"),
    ("12/25/2020 10:23:45 PST", databricks, "2020-12-25T18:23:45Z"),
    ("06/25/2020 10:23:45 PST", databricks, "2020-06-25T18:23:45Z"),
    ("12/25/2020 10:23:45 CET", databricks, "2020-12-25T09:23:45Z"),
    ("06/25/2020 10:23:45 CET", databricks, "2020-06-25T09:23:45Z"),
    ("06/25/2020 10:23:45 CEST", databricks, "2020-06-25T08:23:45Z"),
    ("06/25/2020 10:23:45 UTC", databricks, "2020-06-25T10:23:45Z"),
    ("06/25/2020 10:23:45 GMT", databricks, "2020-06-25T10:23:45Z"),
    ("06/25/2020 10:23:45 -0700", databricks, "2020-06-25T17:23:45Z"),
    ("06/25/2020 10:23:45 +05:30", databricks, "2020-06-25T04:53:45Z"),
    ("06/25/2020 10:23:45 Z", databricks, "2020-06-25T10:23:45Z"),
    ("06/25/2020 10:23:45 America/Los_Angeles", databricks, "2020-06-25T17:23:45Z"),
    ("06/25/2020 10:23:45 PDT", "MM/dd/yyyy HH:mm:ss z", "2020-06-25T17:23:45Z"),
    ("PDT, 25 Jun 2020 10:23", "zzz, dd MMM yyyy HH:mm", "2020-06-25T17:23:00Z"),
    ("Zulu 2020-06-25T10:23:45 -0700", "'Zulu 'yyyy-MM-dd'T'HH:mm:ss Z", "2020-06-25T17:23:45Z"),
    ("20/11/2026 12:00:00", "dd/MM/yyyy HH:mm:ss", "2026-11-20T12:00:00Z"),
    ("2026-11-20 12:00:00.250+01:00", "yyyy-MM-dd HH:mm:ss.SSSXXX", "2026-11-20T11:00:00.250Z")
  )

  private val refused = Seq(
    ("06/25/2020 10:23:45 NZDT", databricks, "names a time zone that is not in use at that time"),
    ("06/25/2020 10:23:45 IST", databricks, "has a name that several time zones share"),
    ("06/25/2020 10:23:45 XYZ", databricks, "does not fit the format"),
    ("06/25/20 10:23:45 PDT", databricks, "does not fit the format"),
    ("06/25/2020 10:23:45", databricks, "does not fit the format"),
    ("noon", "HH:mm", "does not fit the format"),
    ("noon", "{", "does not fit the format"),
    ("noon", "'HH", "does not fit the format")
  )

  test("a time in a given format is parsed to an instant") {
    understood.foreach { case (text, pattern, instant) =>
      val utc = TimeReference(ZoneOffset.UTC, nowMillis = 0)
      val millis = Instant.parse(instant).toEpochMilli
      assert(TimestampFormat.parse(text, pattern).map(_.millis(utc)) == Right(millis), s"$text as $pattern")
    }
  }

  test("a time that means no instant or several is rejected with the reason") {
    refused.foreach { case (text, pattern, why) =>
      val result = TimestampFormat.parse(text, pattern)
      assert(result.left.exists(reason => reason.startsWith(s"'$text' ") && reason.contains(why)), result)
    }
  }

  test("names of months and zones are English independently of the locale") {
    val before = Locale.getDefault
    Locale.setDefault(Locale.GERMANY)
    try assert(TimestampFormat.parse("25 Dec 2020 10:23 PST", "dd MMM yyyy HH:mm z").isRight)
    finally Locale.setDefault(before)
  }

  test("the example position of the documentation of Databricks is accepted") {
    val text = """{"at_timestamp": "06/25/2020 10:23:45 PDT", "format": "MM/dd/yyyy HH:mm:ss ZZZ"}"""
    assert(PositionOption.parse(text) == PositionOption.parse("2020-06-25T17:23:45Z"))
  }
}
