package org.sparkkinesis.emulator.wire.http

import java.time.format.DateTimeFormatter
import java.time.{Instant, ZoneOffset}
import java.util.Locale

/**
 * Writes the time of the emulator as a Date header, once for each second. Thread-safe.
 *
 * @param millis
 *   the time of the emulator in epoch milliseconds
 */
final class HttpDates(millis: () => Long) {
  import HttpDates._

  @volatile private var last = Written(Long.MinValue, "")

  def now: String = {
    val second = Math.floorDiv(millis(), 1000L)
    val known = last
    if (known.second == second) known.text
    else {
      val written = Written(second, Format.format(Instant.ofEpochSecond(second)))
      last = written
      written.text
    }
  }
}

private object HttpDates {
  final case class Written(second: Long, text: String)

  /** RFC 9110 requires two digits for the day, which RFC_1123_DATE_TIME does not write. */
  val Format: DateTimeFormatter =
    DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH).withZone(ZoneOffset.UTC)
}
