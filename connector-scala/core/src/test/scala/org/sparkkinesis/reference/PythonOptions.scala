package org.sparkkinesis.reference

import org.sparkkinesis.config.OptionType._
import org.sparkkinesis.config._
import org.sparkkinesis.error.ErrorConditions
import org.sparkkinesis.json.Json

/** `_generated.py`: the declarations, and one typed method and keyword for each, for the Python builders. */
object PythonOptions {
  private val single = ConnectorOptions.all.filterNot(_.isPrefix)

  private val raisedInPython = Seq("KINESIS_OPTION_", "KINESIS_JAR_", "KINESIS_EMULATOR_")

  def text: String =
    s"""# Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command}
       |\"\"\"Every option as data, as a keyword and as a method. Not meant to be edited.\"\"\"
       |
       |from __future__ import annotations
       |
       |from collections.abc import Mapping, Sequence
       |from datetime import datetime, timedelta
       |from typing import TYPE_CHECKING, Any, Literal, TypedDict
       |
       |from spark_kinesis._builder import Builder
       |from spark_kinesis._declaration import Declaration
       |
       |if TYPE_CHECKING:
       |    from typing_extensions import Self
       |
       |DECLARATIONS: tuple[Declaration, ...] = (
       |${ConnectorOptions.all.map(declaration).mkString("\n")}
       |)
       |
       |CONDITIONS: Mapping[str, tuple[str, str, str]] = {
       |${conditions.mkString("\n")}
       |}
       |
       |
       |${typedDict("ConnectionKeywords", "TypedDict", Scope.Connection)}
       |
       |
       |${typedDict("SourceKeywords", "ConnectionKeywords", Scope.Read)}
       |
       |
       |${typedDict("SinkKeywords", "ConnectionKeywords", Scope.Write)}
       |
       |
       |${methods("ConnectionMethods", "Builder", Scope.Connection)}
       |
       |
       |${methods("SourceMethods", "ConnectionMethods", Scope.Read)}
       |
       |
       |${methods("SinkMethods", "ConnectionMethods", Scope.Write)}
       |""".stripMargin

  /** `streamARN` → `stream_arn`, `retry.getRecords.backoff.base` → `retry_get_records_backoff_base`. */
  def pythonName(entry: ConfigEntry[_]): String =
    entry.key.replace(".*", ".of").replaceAll("([a-z0-9])([A-Z])", "$1_$2").replace('.', '_').toLowerCase

  private def literal(text: String): String = Json.render(Json.Str(text))

  private def declaration(entry: ConfigEntry[_]): String = {
    val fields = Seq("key" -> literal(entry.key), "name" -> literal(pythonName(entry))) ++
      Seq("scope" -> literal(entry.scope.toString.toLowerCase), "expected" -> literal(entry.kind.expected)) ++
      kind(entry.kind) ++
      entry.default.map(text => "default" -> literal(text)) ++
      Option.when(entry.sensitive)("sensitive" -> "True") ++
      Option.when(entry.deprecated.nonEmpty)("deprecated" -> deprecated(entry))
    fields.map { case (name, value) => s"$name=$value" }.mkString("    Declaration(", ", ", "),")
  }

  private def deprecated(entry: ConfigEntry[_]): String =
    entry.deprecated.map(old => s"(${literal(old.name)}, ${literal(old.origin)}),").mkString("(", " ", ")")

  private def kind(of: OptionType[_]): Seq[(String, String)] = {
    def named(name: String) = "kind" -> literal(name)
    def bounds(min: Any, max: Any) = Seq("minimum" -> min.toString, "maximum" -> max.toString)
    of match {
      case Text => Seq(named("text"))
      case Flag => Seq(named("flag"))
      case Whole(min, max) => named("whole") +: bounds(min, max)
      case Real(min, max) => named("real") +: bounds(min, max)
      case Bytes(min, max) => named("bytes") +: bounds(min, max)
      case Duration(min, max) => named("duration") +: bounds(min.toMillis, max.toMillis)
      case OneOf(values) => Seq(named("choice"), "choices" -> values.map(literal).mkString("(", ", ", ")"))
      case pattern: Matching =>
        Seq(named("pattern"), "pattern" -> literal(pattern.pattern), "why" -> literal(pattern.why))
      case _: Parsed[_] => Seq(named("parsed"))
    }
  }

  private def conditions: Seq[String] = ErrorConditions.all.values.toSeq
    .filter(condition => raisedInPython.exists(condition.name.startsWith))
    .sortBy(_.name)
    .map(c => s"    ${literal(c.name)}: (${literal(c.problem)}, ${literal(c.cause)}, ${literal(c.fix)}),")

  private def typedDict(name: String, parent: String, scope: Scope): String =
    single.filter(_.scope == scope)
      .map(entry => s"    ${pythonName(entry)}: ${entry.kind.pythonType}")
      .mkString(
        s"class $name($parent, total=False):\n    \"\"\"Keywords: ${scope.title.head.toLower}${scope.title.tail}.\"\"\"\n\n",
        "\n",
        ""
      )

  private def methods(name: String, parent: String, scope: Scope): String =
    ConnectorOptions.all.filter(_.scope == scope).map(method).mkString(
      s"class $name($parent):\n    \"\"\"Methods: ${scope.title.head.toLower}${scope.title.tail}.\"\"\"\n\n",
      "\n",
      ""
    ).stripTrailing

  private def method(entry: ConfigEntry[_]): String = {
    val default =
      entry.default.map(text => s"``$text``").orElse(Option.when(entry.defaultDoc.nonEmpty)(entry.defaultDoc))
    val signature = if (entry.isPrefix) "self, stream: str, value" else "self, value"
    val key = if (entry.isPrefix) s"""f${literal(entry.key.stripSuffix("*") + "{stream}")}""" else literal(entry.key)
    val docstring = Seq(entry.doc, s"Takes ${entry.kind.expected}.") ++ default.map(text => s"Default: $text.")
    s"""    def ${pythonName(entry)}($signature: ${entry.kind.pythonType}) -> Self:
       |        \"\"\"${docstring.mkString("\n\n        ").replace("\\", "\\\\")}
       |        \"\"\"
       |        return self._with($key, value)
       |""".stripMargin
  }
}
