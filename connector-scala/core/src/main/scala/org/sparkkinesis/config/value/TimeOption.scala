package org.sparkkinesis.config.value

import java.time.{Duration, Instant, LocalDate, LocalDateTime, LocalTime, ZoneId}
import java.util.Locale

import scala.util.Try

/**
 * What the times of options refer to.
 *
 * @param zone
 *   the session's time zone
 * @param nowMillis
 *   time when the query first started, in epoch milliseconds
 */
final case class TimeReference(zone: ZoneId, nowMillis: Long)

/** A time as a user writes it. */
sealed trait TimeOption {

  /** Returns the time in epoch milliseconds. */
  def millis(reference: TimeReference): Long
}

object TimeOption {
  final case class At(epochMillis: Long) extends TimeOption {
    override def millis(reference: TimeReference): Long = epochMillis
    override def toString: String = Instant.ofEpochMilli(epochMillis).toString
  }

  /** A time in the session's time zone. Of a time that a change of the clocks repeats, it is the first one. */
  final case class Local(time: LocalDateTime) extends TimeOption {
    override def millis(reference: TimeReference): Long = time.atZone(reference.zone).toInstant.toEpochMilli
    override def toString: String = time.toString
  }

  /** A time before the start of the query. */
  final case class Ago(duration: Duration) extends TimeOption {
    override def millis(reference: TimeReference): Long = reference.nowMillis - duration.toMillis
    override def toString: String = s"-$duration"
  }

  /** Epoch milliseconds have more digits since 1973. A smaller number is in seconds, or a mistake. */
  private val SmallestMillis = 100000000000L

  private val Number = "([0-9]{1,17})".r
  private val Relative = "(?i)((?:[0-9]{1,9}\\s*[a-z]+\\s*)+)\\s+ago".r
  private val Part = "([0-9]+)\\s*([a-z]+)".r
  private val Iso8601Duration = "(?i)[+-]?P[-+.0-9DTHMS]+".r
  private val Absolute =
    ("(?i)([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\\.[0-9]{1,9})?)?))?" +
      "\\s*(Z|[+-][0-9]{2}(?::?[0-9]{2}){0,2}|[a-z][a-z0-9_+/-]*)?").r

  private val Seconds: Map[String, Long] = Seq(
    Seq("s", "sec", "secs", "second", "seconds") -> 1L,
    Seq("m", "min", "mins", "minute", "minutes") -> 60L,
    Seq("h", "hour", "hours") -> 3600L,
    Seq("d", "day", "days") -> 86400L,
    Seq("w", "week", "weeks") -> 604800L
  ).flatMap { case (names, seconds) => names.map(_ -> seconds) }.toMap

  /** Returns the time, or the reason why the text has none. */
  def parse(text: String): Either[String, TimeOption] = text match {
    case Number(digits) if digits.toLong < SmallestMillis =>
      Left(s"$text is ${Instant.ofEpochMilli(digits.toLong)}, because a number is in epoch milliseconds, of 13 digits.")
    case Number(digits) => Right(At(digits.toLong))
    case Relative(parts) => ago(text, parts)
    case Iso8601Duration() => duration(text)
    case Absolute(date, time, zone) => absolute(text, date, Option(time), Option(zone))
    case _ => Left(
        s"'$text' is neither latest, trim_horizon, earliest, nor a time such as 2026-11-20T12:00:00Z, " +
          "'2026-11-20 12:00', '1 hour ago' or 1795176000000."
      )
  }

  private def ago(text: String, parts: String): Either[String, TimeOption] = {
    val read = Part.findAllMatchIn(parts.toLowerCase(Locale.ROOT)).map(one => one.group(1).toLong -> one.group(2)).toSeq
    read.collectFirst { case (_, unit) if !Seconds.contains(unit) => unit } match {
      case Some(unit) => Left(s"'$text' has the unit '$unit'. Use seconds, minutes, hours, days or weeks.")
      case None => Right(Ago(Duration.ofSeconds(read.map { case (count, unit) => count * Seconds(unit) }.sum)))
    }
  }

  private def duration(text: String): Either[String, TimeOption] =
    Try(Duration.parse(text)).toOption match {
      case Some(positive) if !positive.isNegative && !positive.isZero =>
        Left(s"'$text' is in the future. Write -$text for a time before the start.")
      case Some(before) if before.abs.compareTo(Longest) <= 0 => Right(Ago(before.negated))
      case Some(_) => Left(s"'$text' is more than ${Longest.toDays} days ago.")
      case None => Left(s"'$text' is not an ISO-8601 duration such as -PT1H30M.")
    }

  /** Kinesis keeps records for a year at most. */
  private val Longest = Duration.ofDays(36500)

  private def absolute(
      text: String,
      date: String,
      time: Option[String],
      zone: Option[String]
  ): Either[String, TimeOption] = {
    val local = Try(LocalDateTime.of(LocalDate.parse(date), time.fold(LocalTime.MIDNIGHT)(LocalTime.parse)))
    local.toEither.left.map(_ => s"'$text' is not a time of the calendar.").flatMap { at =>
      zone.fold[Either[String, TimeOption]](Right(Local(at))) { name =>
        Try(ZoneId.of(if (name.equalsIgnoreCase("z")) "Z" else name)).toEither
          .left.map(_ => s"'$text' has the time zone '$name', which is not known.")
          .map(of => At(at.atZone(of).toInstant.toEpochMilli))
      }
    }
  }
}
