package org.sparkkinesis.reference

import org.sparkkinesis.error.ErrorConditions
import org.sparkkinesis.json.Json

/** `_conditions.py`: the texts of the conditions that the Python package raises. */
object PythonConditions {
  private val prefixes = Seq("KINESIS_JAR_", "KINESIS_EMULATOR_", "KINESIS_REAL_TIME_UNSUPPORTED")

  def text: String =
    s"""# Made from error-conditions.json; renew with: ${GeneratedFiles.Command}
       |\"\"\"Problem, cause and fix of each condition that this package raises itself. Not meant to be edited.\"\"\"
       |
       |from __future__ import annotations
       |
       |from collections.abc import Mapping
       |
       |CONDITIONS: Mapping[str, tuple[str, str, str]] = {
       |${conditions.mkString("\n")}
       |}
       |""".stripMargin

  private def conditions: Seq[String] = ErrorConditions.all.values.toSeq
    .filter(condition => prefixes.exists(condition.name.startsWith))
    .sortBy(_.name)
    .map { condition =>
      val texts = Seq(condition.problem, condition.cause, condition.fix).map(literal)
      texts.mkString(s"    ${literal(condition.name)}: (\n        ", ",\n        ", ",\n    ),")
    }

  private def literal(text: String): String = Json.render(Json.Str(text))
}
