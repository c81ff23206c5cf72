package org.sparkkinesis.config.value

import java.util.Locale
import java.util.regex.{Pattern, PatternSyntaxException}

import scala.concurrent.duration._
import scala.util.Try

/**
 * Parses the text of an option to a value.
 *
 * `expected` completes the sentence "Set it to …". `pythonType` is the type that the Python builders accept.
 */
sealed trait OptionType[T] {
  def parse(text: String): Either[String, T]
  def expected: String
  def pythonType: String
  def render(value: T): String = value.toString
}

object OptionType {
  // Java's parsers also accept digits of other alphabets, and `2d` for a double.
  private val Digits = "[+-]?[0-9]+".r
  private val Decimal = "[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?".r

  case object Text extends OptionType[String] {
    def parse(text: String): Either[String, String] = if (text.nonEmpty) Right(text) else Left("It is empty.")
    def expected: String = "a string"
    def pythonType: String = "str"
  }

  /** A text that `read` parses. */
  final case class Parsed[T](expected: String, show: T => String, pythonType: String = "str")(
      read: String => Either[String, T]
  ) extends OptionType[T] {
    def parse(text: String): Either[String, T] = if (text.nonEmpty) read(text) else Left("It is empty.")
    override def render(value: T): String = show(value)
  }

  /** A text that matches `pattern` completely. The Python builders check the same pattern. */
  final case class Matching(expected: String, pattern: String, why: String, normal: String => String = identity)
      extends OptionType[String] {
    private val whole = pattern.r
    def parse(text: String): Either[String, String] =
      if (text.isEmpty) Left("It is empty.") else Either.cond(whole.matches(text), normal(text), why)
    def pythonType: String = "str"
  }

  case object Flag extends OptionType[Boolean] {
    def parse(text: String): Either[String, Boolean] =
      text.trim.toBooleanOption.toRight("It is neither true nor false.")
    def expected: String = "true or false"
    def pythonType: String = "bool"
  }

  final case class Whole(min: Long, max: Long) extends OptionType[Long] {
    def parse(text: String): Either[String, Long] =
      Option(text.trim).filter(Digits.matches).flatMap(_.toLongOption) match {
        case None => Left("It is not a whole number.")
        case Some(n) if n < min || n > max => Left(s"$n is outside of $min to $max.")
        case Some(n) => Right(n)
      }
    def expected: String =
      if (max == Long.MaxValue) s"a whole number of at least $min" else s"a whole number from $min to $max"
    def pythonType: String = "int"
  }

  final case class Real(min: Double, max: Double) extends OptionType[Double] {
    def parse(text: String): Either[String, Double] = Option(text.trim).filter(Decimal.matches).map(_.toDouble) match {
      case None => Left("It is not a number.")
      case Some(n) if n < min || n > max => Left(s"${text.trim} is outside of $min to $max.")
      case Some(n) => Right(n)
    }
    def expected: String = s"a number from $min to $max"
    def pythonType: String = "float"
  }

  /** Sizes in Spark's notation, in powers of 1024: `512m`, `64mb`, `10MiB`, or plain bytes. */
  final case class Bytes(min: Long, max: Long) extends OptionType[Long] {
    private val Form = "(?i)(\\d+)\\s*(b|k|kb|kib|m|mb|mib|g|gb|gib)?".r
    def parse(text: String): Either[String, Long] = text.trim match {
      case Form(digits, unit) =>
        val shift = Option(unit).map(_.toLowerCase(Locale.ROOT).head).map(Map(
          'b' -> 0,
          'k' -> 10,
          'm' -> 20,
          'g' -> 30
        )).getOrElse(0)
        val size = BigInt(digits) << shift
        if (size < min || size > max) Left(s"$text is outside of ${Bytes.show(min)} to ${Bytes.show(max)}.")
        else Right(size.toLong)
      case _ => Left("It is not a size.")
    }
    def expected: String = s"a size such as 64m, " +
      (if (max == Long.MaxValue) s"at least ${Bytes.show(min)}" else s"from ${Bytes.show(min)} to ${Bytes.show(max)}")
    def pythonType: String = "str | int"
    override def render(value: Long): String = Bytes.show(value)
  }

  object Bytes {
    def show(size: Long): String = Seq(30 -> "g", 20 -> "m", 10 -> "k")
      .collectFirst { case (shift, unit) if size != 0 && size % (1L << shift) == 0 => s"${size >> shift}$unit" }
      .getOrElse(size.toString)
  }

  /** Durations in Spark's notation: `250ms`, `10s`, `15m`, `1h`, `2d`. A plain number is in milliseconds. */
  final case class Duration(min: FiniteDuration, max: FiniteDuration) extends OptionType[FiniteDuration] {
    private val Form = "(?i)(\\d{1,15})\\s*(ms|s|m|min|h|d)?".r
    def parse(text: String): Either[String, FiniteDuration] = text.trim match {
      case Form(digits, unit) =>
        val factor = Option(unit).map(_.toLowerCase(Locale.ROOT)).map(Duration.Millis).getOrElse(1L)
        Try(Math.multiplyExact(digits.toLong, factor).millis).toOption match {
          case Some(d) if d >= min && d <= max => Right(d)
          case _ => Left(s"$text is outside of ${Duration.show(min)} to ${Duration.show(max)}.")
        }
      case _ => Left("It is not a duration.")
    }
    def expected: String = s"a duration such as 250ms, 10s or 15m, from ${Duration.show(min)} to ${Duration.show(max)}"
    def pythonType: String = "str | int | timedelta"
    override def render(value: FiniteDuration): String = Duration.show(value)
  }

  /** A duration, or `infinite`. */
  final case class DurationOrInfinite(finite: Duration) extends OptionType[scala.concurrent.duration.Duration] {
    def parse(text: String): Either[String, scala.concurrent.duration.Duration] =
      if (text.trim.equalsIgnoreCase(DurationOrInfinite.Word)) Right(scala.concurrent.duration.Duration.Inf)
      else finite.parse(text)
    def expected: String = s"${finite.expected}, or ${DurationOrInfinite.Word}"
    def pythonType: String = finite.pythonType
    override def render(value: scala.concurrent.duration.Duration): String = value match {
      case limited: FiniteDuration => finite.render(limited)
      case _ => DurationOrInfinite.Word
    }
  }

  object DurationOrInfinite {
    private val Word = "infinite"
  }

  object Duration {
    private val Millis: Map[String, Long] =
      Map("ms" -> 1L, "s" -> 1000L, "m" -> 60000L, "min" -> 60000L, "h" -> 3600000L, "d" -> 86400000L)

    def show(value: FiniteDuration): String = Seq("d", "h", "m", "s")
      .collectFirst {
        case unit if value.toMillis != 0 && value.toMillis % Millis(unit) == 0 =>
          s"${value.toMillis / Millis(unit)}$unit"
      }
      .getOrElse(s"${value.toMillis}ms")
  }

  /** One of a fixed set of values. */
  final case class OneOf[T <: Choice](values: Seq[T]) extends OptionType[T] {
    def parse(text: String): Either[String, T] =
      values.find(_.word.equalsIgnoreCase(text.trim)).toRight("It is not one of the accepted values.")
    def expected: String = values.map(_.word).mkString("one of '", "', '", "'")
    def pythonType: String = values.map(value => s""""${value.word}"""").mkString("Literal[", ", ", "]")
    override def render(value: T): String = value.word
  }

  val RegularExpression: Parsed[Pattern] =
    Parsed[Pattern]("a regular expression of java.util.regex", _.pattern) { text =>
      try Right(Pattern.compile(text))
      catch {
        case e: PatternSyntaxException => Left(s"It does not compile: ${e.getDescription} near index ${e.getIndex}.")
      }
    }
}
