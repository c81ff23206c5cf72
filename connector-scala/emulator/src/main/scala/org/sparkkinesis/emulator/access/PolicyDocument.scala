package org.sparkkinesis.emulator.access

import java.nio.charset.StandardCharsets.UTF_8

import org.sparkkinesis.emulator.document.{Encoding, Fields}
import org.sparkkinesis.emulator.engine.error.ServiceError

/** A policy of IAM or of a resource. */
final case class PolicyDocument(statements: Seq[Statement])

/**
 * One statement of a policy.
 *
 * @param principals
 *   whom the statement of a resource's policy is for; policies of identities have none
 */
final case class Statement(
    allows: Boolean,
    actions: Names,
    resources: Names,
    principals: Seq[String],
    conditions: Seq[Condition]
) {

  /** Whether the statement is for this request, apart from its principal. */
  def isFor(request: AccessRequest): Boolean = actions.include(request.action.toLowerCase) &&
    resources.include(request.resource) && conditions.forall(_.holds(request.context))

  /** Whether the statement of a resource's policy is for this caller. */
  def isFor(principal: Principal): Boolean = principals.exists { pattern =>
    pattern == "*" || pattern == principal.account || pattern == principal.arn || principal.role.contains(pattern) ||
    pattern == s"arn:aws:iam::${principal.account}:root"
  }
}

/** `Action` or `Resource` of a statement, or `NotAction` or `NotResource`, which include everything else. */
final case class Names(patterns: Seq[Wildcards], isNegated: Boolean) {
  def include(name: String): Boolean = patterns.exists(_.matches(name)) != isNegated
}

/** A text in which `*` stands for any characters, and `?` for one. */
final case class Wildcards(text: String) {
  private val regex = text.split("(?<=[*?])|(?=[*?])").map {
    case "*" => ".*"
    case "?" => "."
    case literal => java.util.regex.Pattern.quote(literal)
  }.mkString("(?s)", "", "").r

  def matches(name: String): Boolean = regex.matches(name)
}

object PolicyDocument {

  /**
   * Reads a policy.
   *
   * @throws IllegalArgumentException
   *   if it is not valid, or uses what the emulator does not evaluate; the message says what
   */
  def parse(json: String): PolicyDocument = {
    val bytes = json.getBytes(UTF_8)
    try {
      val document = Encoding.Json.parse(bytes, 0, bytes.length)
      val statements = document.get("Statement") match {
        case null => Nil
        case one: Fields => Seq(one)
        case several: Vector[?] => several.collect { case fields: Fields => fields }
        case other => throw invalid(s"Statement is $other")
      }
      PolicyDocument(statements.map(statement))
    } catch { case error: ServiceError => throw invalid(error.getMessage) }
  }

  private def statement(fields: Fields): Statement = Statement(
    fields.string("Effect") match {
      case Some("Allow") => true
      case Some("Deny") => false
      case other => throw invalid(s"Effect is ${other.getOrElse("missing")}, and not Allow or Deny")
    },
    names(fields, "Action", _.toLowerCase),
    // Policies of resources may leave it out, because they belong to one.
    if (fields.has("Resource") || fields.has("NotResource")) names(fields, "Resource", identity)
    else Names(Seq(Wildcards("*")), isNegated = false),
    fields.get("Principal") match {
      case null => Nil
      case "*" => Seq("*")
      case some: Fields => texts(some.get("AWS"))
      case other => throw invalid(s"Principal is $other")
    },
    fields.structure("Condition").toSeq.flatMap(_.entries).flatMap {
      case (operator, keys: Fields) =>
        keys.entries.map { case (key, values) => Condition.of(operator, key.toLowerCase, texts(values)) }
      case (operator, _) => throw invalid(s"Condition $operator has no keys")
    }
  )

  private def names(fields: Fields, member: String, normal: String => String): Names = {
    val isNegated = fields.has(s"Not$member")
    val patterns = texts(fields.get(if (isNegated) s"Not$member" else member))
    if (patterns.isEmpty) throw invalid(s"$member is missing")
    Names(patterns.map(pattern => Wildcards(normal(pattern))), isNegated)
  }

  private def texts(value: Any): Seq[String] = value match {
    case null => Nil
    case several: Vector[?] => several.map(String.valueOf(_))
    case one => Seq(one.toString)
  }

  private[access] def invalid(what: String): IllegalArgumentException =
    new IllegalArgumentException(s"The policy is not valid: $what.")
}
