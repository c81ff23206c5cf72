package org.sparkkinesis.config.value

import java.time.format.DateTimeFormatter
import java.time.temporal.TemporalAccessor
import java.time.{Instant, LocalDateTime, ZoneId, ZonedDateTime}
import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.{Success, Try}

/**
 * Parses a time in a format of the user: a pattern of `java.time.format.DateTimeFormatter` with English names.
 *
 * The letters `Z` and `z` accept an offset (`-0700`, `-07:00`), a time zone id (`America/Los_Angeles`, `UTC`), or a
 * short name (`PDT`), as `java.text.SimpleDateFormat` and Databricks do.
 */
private[config] object TimestampFormat {
  private val ZoneLetters = "[Zz]+".r

  /** The names to which RFC 822 assigns fixed offsets. In other standards, some of them also name other zones. */
  private val Rfc822 = Map("UT" -> "+0000", "GMT" -> "+0000", "EST" -> "-0500", "EDT" -> "-0400", "CST" -> "-0600") ++
    Map("CDT" -> "-0500", "MST" -> "-0700", "MDT" -> "-0600", "PST" -> "-0800", "PDT" -> "-0700")
  private val Rfc822Name = s"\\b(${Rfc822.keys.mkString("|")})\\b".r

  /** Returns the time, or the reason why the text has none. */
  def parse(text: String, pattern: String): Either[String, TimeOption] = {
    def as(zone: String): String = withZone(pattern, zone)
    val found =
      if (!hasZone(pattern)) time(text, pattern)
      else {
        val ownOffset = Rfc822Name.replaceAllIn(text, name => Rfc822(name.group(1)))
        instant(ownOffset, as("Z")).orElse(instant(text, as("XXX"))).orElse(inRegion(text, as("VV"))).map(at)
      }
    found match {
      case Success(found) => Right(found)
      case failed =>
        named(text, as("z")).map(_.map(at)).getOrElse {
          Left(s"'$text' does not fit the format '$pattern': ${failed.failed.get.getMessage}.")
        }
    }
  }

  private def at(instant: Instant): TimeOption = TimeOption.At(instant.toEpochMilli)

  private def time(text: String, pattern: String): Try[TimeOption] = Try(best(text, formatter(pattern)) match {
    case zoned: ZonedDateTime => at(zoned.toInstant)
    case other => TimeOption.Local(LocalDateTime.from(other))
  })

  private def instant(text: String, pattern: String): Try[Instant] =
    Try(ZonedDateTime.parse(text, formatter(pattern)).toInstant)

  /** Ids such as `CET` look like a name of standard time but have daylight saving time; `named` handles them. */
  private def inRegion(text: String, pattern: String): Try[Instant] =
    Try(ZonedDateTime.parse(text, formatter(pattern))).filter { zoned =>
      zoned.getZone.getId.contains("/") || zoned.getZone.getRules.isFixedOffset
    }.map(_.toInstant)

  /**
   * Returns `None` if the text has no short zone name, and a reason if the name has no offset or several offsets at
   * that time.
   */
  private def named(text: String, pattern: String): Option[Either[String, Instant]] = for {
    withName <- Try(formatter(pattern)).toOption
    zoned <- Try(ZonedDateTime.parse(text, withName)).toOption
  } yield {
    val local = zoned.toLocalDateTime
    val offsets = ZoneId.getAvailableZoneIds.asScala.map(ZoneId.of).collect {
      case zone if withName.format(local.atZone(zone)) == text => zone.getRules.getOffset(local)
    }
    offsets.toSet.toSeq match {
      case Seq(offset) => Right(local.toInstant(offset))
      case Seq() =>
        Left(s"'$text' names a time zone that is not in use at that time; write an offset such as -0700 instead.")
      case _ => Left(s"'$text' has a name that several time zones share; write an offset such as -0700 instead.")
    }
  }

  private def best(text: String, formatter: DateTimeFormatter): TemporalAccessor =
    formatter.parseBest(text, ZonedDateTime.from _, LocalDateTime.from _)

  private def formatter(pattern: String): DateTimeFormatter = DateTimeFormatter.ofPattern(pattern, Locale.US)

  private def hasZone(pattern: String): Boolean = parts(pattern).exists { case (part, isQuoted) =>
    !isQuoted && ZoneLetters.findFirstIn(part).isDefined
  }

  private def withZone(pattern: String, zone: String): String = parts(pattern).map { case (part, isQuoted) =>
    if (isQuoted) s"'$part'" else ZoneLetters.replaceAllIn(part, zone)
  }.mkString

  /** Splits a pattern at its single quotes. The flag is true for a quoted part. */
  private def parts(pattern: String): Seq[(String, Boolean)] =
    pattern.split("'", -1).toSeq.zipWithIndex.map { case (part, index) => part -> (index % 2 == 1) }
}
