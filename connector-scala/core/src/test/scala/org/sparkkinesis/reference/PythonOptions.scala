package org.sparkkinesis.reference

import org.sparkkinesis.config._
import org.sparkkinesis.json.Json
import org.sparkkinesis.metadata.StreamState
import org.sparkkinesis.secret.SecretReference

/**
 * `_generated.py`: a typed method and a keyword of the Python builders for each declared option, and the states of a
 * physical stream.
 */
object PythonOptions {

  /** The options of the builders: of both sides for `Connection`, of one side for `Read` and `Write`. */
  private def of(scope: Scope): Seq[ConfigEntry[_]] =
    ConnectorOptions.all.filter(_.effect.sides == Effect.of(scope).sides)

  def text: String =
    s"""# Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command}
       |\"\"\"Every option as a keyword and as a method. Not meant to be edited.\"\"\"
       |
       |from __future__ import annotations
       |
       |from collections.abc import Mapping, Sequence
       |from datetime import datetime, timedelta
       |from typing import TYPE_CHECKING, Any, Literal, TypedDict
       |
       |from spark_kinesis._builder import Builder
       |
       |if TYPE_CHECKING:
       |    from typing_extensions import Self
       |
       |PhysicalStreamState = Literal[${StreamState.all.map(state => literal(state.word)).mkString(", ")}]
       |
       |
       |${typedDict("ConnectionKeywords", "TypedDict", title(Scope.Connection), of(Scope.Connection))}
       |
       |
       |${typedDict("SourceKeywords", "ConnectionKeywords", title(Scope.Read), of(Scope.Read))}
       |
       |
       |${typedDict("SinkKeywords", "ConnectionKeywords", title(Scope.Write), of(Scope.Write))}
       |
       |
       |${typedDict("FirehoseKeywords", "TypedDict", Firehose, FirehoseOptions.all)}
       |
       |
       |${methods("ConnectionMethods", "Builder", title(Scope.Connection), of(Scope.Connection))}
       |
       |
       |${methods("SourceMethods", "ConnectionMethods", title(Scope.Read), of(Scope.Read))}
       |
       |
       |${methods("SinkMethods", "ConnectionMethods", title(Scope.Write), of(Scope.Write))}
       |
       |
       |${methods("FirehoseMethods", "Builder", Firehose, FirehoseOptions.all)}
       |""".stripMargin

  private val Firehose = "writing to Amazon Data Firehose"

  /** `streamARN` → `stream_arn`, `retry.getRecords.backoff.base` → `retry_get_records_backoff_base`. */
  def pythonName(entry: ConfigEntry[_]): String =
    entry.key.replace(".*", ".of").replaceAll("([a-z0-9])([A-Z])", "$1_$2").replace('.', '_').toLowerCase

  private def literal(text: String): String = Json.render(Json.Str(text))

  private def title(scope: Scope): String = s"${scope.title.head.toLower}${scope.title.tail}"

  private def typedDict(name: String, parent: String, about: String, entries: Seq[ConfigEntry[_]]): String =
    entries.filterNot(_.isPrefix)
      .map(entry => s"    ${pythonName(entry)}: ${entry.kind.pythonType}")
      .mkString(
        s"class $name($parent, total=False):\n    \"\"\"Keywords: $about.\"\"\"\n\n",
        "\n",
        ""
      )

  private def methods(name: String, parent: String, about: String, entries: Seq[ConfigEntry[_]]): String =
    entries.map(method).mkString(
      s"class $name($parent):\n    \"\"\"Methods: $about.\"\"\"\n\n",
      "\n",
      ""
    ).stripTrailing

  private def method(entry: ConfigEntry[_]): String = {
    val default =
      entry.default.map(text => s"``$text``").orElse(Option.when(entry.defaultDoc.nonEmpty)(entry.defaultDoc))
    val signature = if (entry.isPrefix) s"self, ${entry.placeholder}: str, value" else "self, value"
    val key = if (entry.isPrefix) s"""f${literal(entry.key.stripSuffix("*") + s"{${entry.placeholder}}")}"""
    else literal(entry.key)
    val docstring = Seq(entry.doc, takes(entry)) ++ default.map(text => s"Default: $text.") ++
      applies(entry)
    val lines =
      docstring.map(text => wrapped(text.replace("\\", "\\\\")).mkString("\n        ")).mkString("\n\n        ")
    s"""    def ${pythonName(entry)}($signature: ${entry.kind.pythonType}) -> Self:
       |        \"\"\"$lines
       |        \"\"\"
       |        return self._with($key, value)
       |""".stripMargin
  }

  private def applies(entry: ConfigEntry[_]): Option[String] = {
    val queries = Option.when(entry.effect.queries != QueryType.all.toSet)(
      s"Query type: ${EffectText.queryType(entry.effect.queries)}."
    )
    val needs = Option(EffectText.requirements(entry.effect)).filter(_.nonEmpty).map(text => s"Applies with $text.")
    Option((queries ++ needs).mkString(" ")).filter(_.nonEmpty)
  }

  private def takes(entry: ConfigEntry[_]): String =
    s"Takes ${entry.kind.expected}${if (entry.sensitive) s", or ${SecretReference.Expected}" else ""}."

  /** Lines of at most 105 characters, so that they have at most 120 with indentation and quotes. */
  private def wrapped(text: String): Seq[String] = text.split(' ').foldLeft(Vector.empty[String]) {
    case (lines :+ last, word) if last.length + word.length < 105 => lines :+ s"$last $word"
    case (lines, word) => lines :+ word
  }
}
