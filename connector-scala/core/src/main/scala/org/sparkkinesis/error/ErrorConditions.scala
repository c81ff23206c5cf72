package org.sparkkinesis.error

import java.nio.charset.StandardCharsets

import scala.util.Using
import scala.util.matching.Regex

import org.sparkkinesis.json.Json

/** The texts of one error condition. `{name}` is a placeholder for a parameter. */
final case class ErrorCondition(name: String, problem: String, cause: String, fix: String) {
  def parameters: Set[String] =
    ErrorCondition.Parameter.findAllMatchIn(s"$problem $cause $fix").map(_.group(1)).toSet

  def render(values: Map[String, String]): String = {
    def fill(text: String): String =
      ErrorCondition.Parameter.replaceAllIn(text, m => Regex.quoteReplacement(values.getOrElse(m.group(1), m.matched)))
    s"[$name] ${fill(problem)} Cause: ${fill(cause)} Fix: ${fill(fix)}"
  }
}

object ErrorCondition {
  private val Parameter: Regex = "\\{([a-zA-Z]+)\\}".r
}

/** All error conditions, loaded from `error-conditions.json`. */
object ErrorConditions {
  private val Resource = "error-conditions.json"

  val all: Map[String, ErrorCondition] = load()

  /**
   * Returns the message of a condition. The message of an undeclared condition says that it is undeclared, which is a
   * defect.
   */
  def message(name: String, parameters: Map[String, String]): String =
    all.get(name).fold(s"[$name] (undeclared condition) $parameters")(_.render(parameters))

  private def load(): Map[String, ErrorCondition] = {
    val text = Using.resource(getClass.getResourceAsStream(Resource)) { stream =>
      new String(stream.readAllBytes(), StandardCharsets.UTF_8)
    }
    Json.parse(text) match {
      case Right(Json.Obj(fields)) =>
        fields.map { case (name, body) =>
          def part(key: String): String = body
            .field(key)
            .flatMap(_.asString)
            .getOrElse(throw new IllegalStateException(s"$Resource: $name has no \"$key\""))
          name -> ErrorCondition(name, part("problem"), part("cause"), part("fix"))
        }
      case other => throw new IllegalStateException(s"$Resource is not an object: $other")
    }
  }
}
