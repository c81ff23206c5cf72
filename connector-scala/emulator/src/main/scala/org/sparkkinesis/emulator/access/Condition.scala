package org.sparkkinesis.emulator.access

/**
 * A condition on one key of the request.
 *
 * @param key
 *   in lower case
 * @param ifExists
 *   whether a request without the key satisfies the condition
 */
final case class Condition(
    key: String,
    values: Seq[String],
    ifExists: Boolean,
    isNegated: Boolean,
    compare: (String, String) => Boolean
) {
  def holds(context: Map[String, String]): Boolean = context.get(key) match {
    case None => ifExists || isNegated
    case Some(found) => values.exists(compare(_, found)) != isNegated
  }
}

object Condition {
  private val like = (pattern: String, found: String) => Wildcards(pattern).matches(found)
  private val equal = (value: String, found: String) => value == found
  private val equalIgnoringCase = (value: String, found: String) => value.equalsIgnoreCase(found)

  private val Operators: Map[String, (String, String) => Boolean] = Map(
    "StringEquals" -> equal,
    "StringEqualsIgnoreCase" -> equalIgnoringCase,
    "StringLike" -> like,
    "ArnEquals" -> like,
    "ArnLike" -> like,
    "Bool" -> equalIgnoringCase
  )

  /** @throws IllegalArgumentException if the emulator does not evaluate the operator */
  def of(operator: String, key: String, values: Seq[String]): Condition = {
    val base = operator.stripSuffix("IfExists")
    val positive = base.replaceFirst("^(String|Arn)Not", "$1")
    val compare = Operators.getOrElse(
      positive,
      throw PolicyDocument.invalid(s"the emulator does not evaluate the condition operator $operator")
    )
    Condition(key, values, operator != base, positive != base, compare)
  }
}
