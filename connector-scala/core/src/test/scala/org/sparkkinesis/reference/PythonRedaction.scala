package org.sparkkinesis.reference

import org.sparkkinesis.config.Options
import org.sparkkinesis.json.Json
import org.sparkkinesis.secret.{Redaction, SecretReference}

/** `_redaction.py`: which options are secrets, and what a builder shows of their values. */
object PythonRedaction {
  def text: String =
    s"""# Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command}
       |\"\"\"What is shown of the values of options. Not meant to be edited.\"\"\"
       |
       |from __future__ import annotations
       |
       |import re
       |
       |HIDDEN = ${literal(Redaction.Hidden)}
       |
       |# Names of the options whose values are never shown, in lower case.
       |SENSITIVE = frozenset(
       |    {
       |${names.map(name => s"        ${literal(name)},").mkString("\n")}
       |    }
       |)
       |
       |# The same for options that end in the name of a stream.
       |SENSITIVE_PREFIXES = (${Options.sensitivePrefixes.sorted.map(literal).mkString(", ")})
       |
       |# A reference to a secret is no secret.
       |REFERENCE = ${compiled(SecretReference.pattern, "")}
       |
       |# The first group is what stays before a secret.
       |PATTERNS = (
       |${(Redaction.query +: Redaction.patterns).map(one => s"    ${compiled(one, "    ")},").mkString("\n")}
       |)
       |
       |
       |def redacted(key: str, value: str) -> str:
       |    \"\"\"Return what is shown of the value of an option.\"\"\"
       |    name = key.lower()
       |    if name in SENSITIVE or name.startswith(SENSITIVE_PREFIXES):
       |        return value if REFERENCE.fullmatch(value) else HIDDEN
       |    for pattern in PATTERNS:
       |        value = pattern.sub(lambda found: found.group(1) + HIDDEN, value)
       |    return value
       |""".stripMargin

  private def literal(text: String): String = Json.render(Json.Str(text))

  private def names: Seq[String] = Options.sensitiveKeys.filterNot(_.endsWith("*")).toSeq.sorted

  /** A regular expression in lines of at most 120 characters. */
  private def compiled(pattern: String, indent: String): String = {
    val inner = s"\n$indent    "
    if (literal(pattern).length < 100) s"re.compile(${literal(pattern)})"
    else if (literal(pattern).length + inner.length <= 121) s"re.compile($inner${literal(pattern)}\n$indent)"
    else pattern.grouped(90).map(literal).mkString(s"re.compile($inner", inner, s"\n$indent)")
  }
}
