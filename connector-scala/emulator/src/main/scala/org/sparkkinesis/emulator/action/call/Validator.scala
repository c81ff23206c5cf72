package org.sparkkinesis.emulator.action.call

import scala.collection.mutable
import scala.util.matching.Regex

import org.sparkkinesis.emulator.document.Fields
import org.sparkkinesis.emulator.engine.error.ServiceError

/**
 * Reads members of a request and checks them against the constraints of the API model. It collects all violations and
 * reports them in one ValidationException with the wording of the service.
 */
final class Validator(fields: Fields) {
  private val violations = mutable.ArrayBuffer.empty[String]

  private def lower(member: String): String = s"${member.head.toLower}${member.tail}"

  private def violated(value: String, member: String, constraint: String): Unit =
    violations += s"$value at '${lower(member)}' failed to satisfy constraint: Member must $constraint"

  private def required[A](member: String, value: Option[A]): Option[A] = {
    if (value.isEmpty) violated("Value null", member, "not be null")
    value
  }

  def string(
      member: String,
      pattern: Regex = null,
      maxLength: Int = Int.MaxValue,
      minLength: Int = 0
  ): Option[String] = {
    val value = fields.string(member)
    value.foreach { text =>
      val shown = s"Value '$text'"
      if (pattern != null && !pattern.matches(text))
        violated(shown, member, s"satisfy regular expression pattern: $pattern")
      if (text.codePointCount(0, text.length) > maxLength)
        violated(shown, member, s"have length less than or equal to $maxLength")
      if (text.length < minLength) violated(shown, member, s"have length greater than or equal to $minLength")
    }
    value
  }

  def requiredString(
      member: String,
      pattern: Regex = null,
      maxLength: Int = Int.MaxValue,
      minLength: Int = 1
  ): Option[String] =
    required(member, string(member, pattern, maxLength, minLength))

  def int(member: String, min: Int, max: Int): Option[Int] = {
    val value = fields.int(member)
    value.foreach { number =>
      if (number < min) violated(s"Value '$number'", member, s"have value greater than or equal to $min")
      if (number > max) violated(s"Value '$number'", member, s"have value less than or equal to $max")
    }
    value
  }

  def requiredInt(member: String, min: Int, max: Int): Option[Int] = required(member, int(member, min, max))

  def oneOf(member: String, allowed: String*): Option[String] = {
    val value = fields.string(member)
    value.foreach { text =>
      if (!allowed.contains(text))
        violated(s"Value '$text'", member, s"satisfy enum value set: [${allowed.mkString(", ")}]")
    }
    value
  }

  def requiredOneOf(member: String, allowed: String*): Option[String] = required(member, oneOf(member, allowed: _*))

  def streamArn(): Option[String] = string("StreamARN", Patterns.StreamArn, Patterns.MaxArn, 1)

  /** Checks StreamId, which the service reserves and which has no effect. */
  def streamId(): Unit = {
    string("StreamId", Patterns.StreamId, Patterns.MaxStreamId, 1)
    ()
  }

  /** Checks the lengths of the texts in a map or a list. `inside` is "Map keys", "Map values" or "Member". */
  def lengths(member: String, inside: String, texts: Iterable[String], min: Int, max: Int): Unit = {
    def length(text: String): Int = text.codePointCount(0, text.length)
    if (texts.exists(text => length(text) > max || length(text) < min)) violations +=
      s"Value '[${texts.size} items]' at '${lower(member)}' failed to satisfy constraint: $inside must satisfy " +
        s"constraint: [Member must have length less than or equal to $max, " +
        s"Member must have length greater than or equal to $min]"
  }

  def present(member: String): Unit = if (!fields.has(member)) violated("Value null", member, "not be null")

  def size(member: String, actual: Int, min: Int, max: Int): Unit = {
    if (actual > max) violated(s"Value '[$actual items]'", member, s"have length less than or equal to $max")
    if (actual < min) violated(s"Value '[$actual items]'", member, s"have length greater than or equal to $min")
  }

  /**
   * Reports the violations.
   *
   * @throws ServiceError
   *   ValidationException if there is a violation
   */
  def check(): Unit = if (violations.nonEmpty) {
    val errors = if (violations.size == 1) "1 validation error" else s"${violations.size} validation errors"
    throw ServiceError.validation(s"$errors detected: ${violations.mkString("; ")}")
  }
}

/** The patterns of the API model, in its notation. */
object Patterns {
  val StreamName: Regex = "[a-zA-Z0-9_.-]+".r
  val StreamArn: Regex = """arn:aws.*:kinesis:.*:\d{12}:stream/\S+""".r
  val ShardId: Regex = "[a-zA-Z0-9_.-]+".r
  val SequenceNumber: Regex = """0|([1-9]\d{0,128})""".r
  val HashKey: Regex = """0|([1-9]\d{0,38})""".r
  val ConsumerArn: Regex =
    """^(arn):aws.*:kinesis:.*:\d{12}:.*stream\/[a-zA-Z0-9_.-]+\/consumer\/[a-zA-Z0-9_.-]+:[0-9]+""".r
  val ResourceArn: Regex = """arn:aws.*:kinesis:.*:\d{12}:.*(stream|channel|queue)/\S+""".r
  val StreamId: Regex = "[a-z0-9]{20}-[a-z0-9]{3}".r
  val MaxName = 128
  val MaxArn = 2048
  val MaxStreamId = 24
}
