package org.sparkkinesis.reference

import org.sparkkinesis.config._
import org.sparkkinesis.json.Json
import org.sparkkinesis.metadata.StreamState
import org.sparkkinesis.secret.SecretReference

/**
 * `_generated.py`: a typed method and a keyword of the Python builders for each declared option, one method for the
 * retry options of all operations, and the states of a physical stream.
 */
object PythonOptions {

  /** The options that a builder has: how they are set, and which of them name streams. */
  final private case class Part(name: String, parent: String, about: String, entries: Seq[ConfigEntry[_]])

  private val retries: Set[ConfigEntry[_]] = (RetryOptions.tunable :+ RetryOptions.putRecordBatch).flatMap(_.all).toSet

  /** The options of the builders: of both sides for `Connection`, of one side for `Read` and `Write`. */
  private def of(scope: Scope): Seq[ConfigEntry[_]] =
    ConnectorOptions.all.filter(_.effect.sides == Effect.of(scope).sides).filterNot(retries)

  /** A read takes several of these, and a write one stream, or several logical ones. */
  private val naming: Seq[ConfigEntry[_]] =
    Seq(ConnectionOptions.streamName, ConnectionOptions.streamARN, MetadataOptions.streamId)

  /** Whether a write takes one of these, although a read takes several. */
  private def takesOne(entry: ConfigEntry[_]): Boolean = isNaming(entry) && entry.key != MetadataOptions.streamId.key

  private def retriedBy(scope: Scope): Seq[RetryEntries] =
    RetryOptions.tunable.filter(of => of.scope == Scope.Connection || of.scope == scope)

  private val connection =
    Part("Connection", "", title(Scope.Connection), of(Scope.Connection).filterNot(isNaming))

  private val source = Part("Source", "Connection", title(Scope.Read), naming ++ of(Scope.Read))

  private val sink = Part(
    "Sink",
    "Connection",
    title(Scope.Write),
    naming.map(entry => if (takesOne(entry)) ofOne(entry) else entry) ++
      of(Scope.Write)
  )

  private val firehose =
    Part("Firehose", "", "writing to Amazon Data Firehose", FirehoseOptions.all.filterNot(retries))

  /** The option of a write, whose text does not speak of several streams. */
  private def ofOne[T](entry: ConfigEntry[T]): ConfigEntry[T] =
    entry.copy(doc = entry.doc.replaceAll(" A read accepts several [^.]*[.]", ""))

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
       |RetriedBySource = ${operations(retriedBy(Scope.Read))}
       |
       |RetriedBySink = ${operations(retriedBy(Scope.Write))}
       |
       |RetriedByFirehose = ${operations(Seq(RetryOptions.putRecordBatch))}
       |
       |
       |${typedDict(connection)}
       |
       |
       |${typedDict(source)}
       |
       |
       |${typedDict(sink)}
       |
       |
       |${typedDict(firehose)}
       |
       |
       |${methods(connection, members)}
       |
       |
       |${methods(source)}
       |
       |${retry("RetriedBySource", retriedBy(Scope.Read), RetryOptions.RetriesBeforeRead)}
       |
       |
       |${methods(sink)}
       |
       |${retry("RetriedBySink", retriedBy(Scope.Write), RetryOptions.NoLimit)}
       |
       |
       |${methods(firehose, members)}
       |
       |${retry("RetriedByFirehose", Seq(RetryOptions.putRecordBatch), RetryOptions.NoLimit)}
       |""".stripMargin

  /** What the builders know about names: those that end in a stream's name. */
  private def members: String =
    setOf("_of_streams", ConnectorOptions.all.filter(_.namesStream).map(_.prefix))

  private def setOf(name: String, values: Seq[String]): String = values
    .map(value => s"            ${literal(value)},\n")
    .sorted
    .mkString(s"    $name = frozenset(\n        {\n", "", "        }\n    )\n\n")

  /** `streamARN` → `stream_arn`, `rateLimiting.aimd.min` → `rate_limiting_aimd_min`. */
  def pythonName(entry: ConfigEntry[_]): String =
    entry.key.replace(".*", ".of").replaceAll("([a-z0-9])([A-Z])", "$1_$2").replace('.', '_').toLowerCase

  private def literal(text: String): String = Json.render(Json.Str(text))

  private def title(scope: Scope): String = s"${scope.title.head.toLower}${scope.title.tail}"

  private def operations(entries: Seq[RetryEntries]): String =
    entries.map(of => s"    ${literal(of.operation.name)},\n").mkString("Literal[\n", "", "]")

  /** The type that the builder of a write accepts for an option that takes several values in a read. */
  private def pythonType(part: Part, entry: ConfigEntry[_]): String =
    if (part == sink && takesOne(entry)) "str" else entry.kind.pythonType

  private def isNaming(entry: ConfigEntry[_]): Boolean = naming.exists(_.key == entry.key)

  private def typedDict(part: Part): String =
    part.entries.filterNot(_.isPrefix)
      .map(entry => s"    ${pythonName(entry)}: ${pythonType(part, entry)} | None")
      .mkString(
        s"class ${part.name}Keywords(${if (part.parent.isEmpty) "TypedDict" else s"${part.parent}Keywords"}, " +
          s"total=False):\n    \"\"\"Keywords: ${part.about}.\"\"\"\n\n",
        "\n",
        ""
      )

  private def methods(part: Part, members: String = ""): String =
    part.entries.map(method(part, _)).mkString(
      s"class ${part.name}Methods(${if (part.parent.isEmpty) "Builder" else s"${part.parent}Methods"}):\n" +
        s"    \"\"\"Methods: ${part.about}.\"\"\"\n\n$members",
      "\n",
      ""
    ).stripTrailing

  private def method(part: Part, entry: ConfigEntry[_]): String = {
    val kind = pythonType(part, entry)
    val default =
      entry.default.map(text => s"``$text``").orElse(Option.when(entry.defaultDoc.nonEmpty)(entry.defaultDoc))
    val signature = if (entry.isPrefix) s"self, ${entry.placeholder}: str, value" else "self, value"
    val expected =
      if (part == sink && takesOne(entry)) entry.kind.expected.replaceAll(", or several.*", "") else entry.kind.expected
    val reference = if (entry.sensitive) s", or ${SecretReference.Expected}" else ""
    val docstring = Seq(entry.doc, s"Takes $expected$reference.") ++ default.map(text => s"Default: $text.") ++
      applies(entry)
    val set =
      if (part == sink && takesOne(entry)) s"self._with_one(${literal(entry.key)}, value)"
      else if (entry.isPrefix)
        s"self._with_of(${literal(entry.key.stripSuffix(".*"))}, ${entry.placeholder}, value, ${classes(kind)})"
      else s"self._with_kind(${literal(entry.key)}, value, ${classes(kind)})"
    s"""    def ${pythonName(entry)}($signature: $kind | None) -> Self:
       |        \"\"\"${paragraphs(docstring)}
       |        \"\"\"
       |        return $set
       |""".stripMargin
  }

  private def applies(entry: ConfigEntry[_]): Option[String] = {
    val queries = Option.when(entry.effect.queries != QueryType.all.toSet)(
      s"Query type: ${EffectText.queryType(entry.effect.queries)}."
    )
    val needs = Option(EffectText.requirements(entry.effect)).filter(_.nonEmpty).map(text => s"Applies with $text.")
    Option((queries ++ needs).mkString(" ")).filter(_.nonEmpty)
  }

  /** The classes of the values that a type has at run time: `str | int` → `str, int`. */
  private def classes(kind: String): String = kind.split(" \\| ").map {
    case one if one.startsWith("Literal[") => "str"
    case one => one.takeWhile(_ != '[')
  }.distinct.mkString(", ")

  /**
   * @param maxRetries
   *   the default for operations that reads and writes share and whose defaults differ
   */
  private def retry(operations: String, entries: Seq[RetryEntries], maxRetries: Long): String = {
    def default(entry: ConfigEntry[_]): String = entry.default.getOrElse(maxRetries.toString)
    val defaults = entries.map { of =>
      s"- ``${of.operation.name}``: ${of.all.map(default).mkString(", ")}"
    }
    val first = entries.head
    val docstring = Seq(
      "Set how the calls of an operation are repeated. Parameters that are None stay as they are.",
      s"`max_retries` is the maximum number of retries; -1 means no limit. The pause before a retry is random: " +
        s"`backoff_base` is the upper bound of the first pause, `backoff_exponent` the factor by which the bound " +
        s"grows with each retry, and `backoff_max` the upper bound of every pause.",
      "Defaults of max_retries, backoff_base, backoff_max and backoff_exponent:"
    )
    val duration = first.base.kind.pythonType
    s"""    def retry(
       |        self,
       |        operation: $operations,
       |        *,
       |        max_retries: ${first.maxRetries.kind.pythonType} | None = None,
       |        backoff_base: $duration | None = None,
       |        backoff_max: $duration | None = None,
       |        backoff_exponent: ${first.exponent.kind.pythonType} | None = None,
       |    ) -> Self:
       |        \"\"\"${paragraphs(docstring)}
       |
       |        ${defaults.flatMap(wrapped).mkString("\n        ")}
       |        \"\"\"
       |        return self._with_retry(
       |            operation, $operations, max_retries, backoff_base, backoff_max, backoff_exponent
       |        )""".stripMargin
  }

  private def paragraphs(texts: Seq[String]): String = texts
    .map(text => wrapped(inPython(text).replace("\\", "\\\\")).mkString("\n        "))
    .mkString("\n\n        ")

  private val declared = ConnectorOptions.all ++ FirehoseOptions.all
  private val Quoted = "`([^`]+)`".r
  private val Assigned = "([a-zA-Z.]+)=(.+)".r

  /** The text with the names of the builder's methods instead of those of Spark's options. */
  private def inPython(text: String): String = Quoted.replaceAllIn(
    text,
    found => java.util.regex.Matcher.quoteReplacement(s"`${inPythonName(found.group(1))}`")
  )

  private def inPythonName(quoted: String): String = quoted match {
    case Assigned(key, value) if declared.exists(_.key == key) =>
      s"${inPythonName(key)}=${inPythonValue(value)}"
    case key => declared.find(_.key == key).map(pythonName)
        .orElse(declared.find(entry => entry.isPrefix && key.startsWith(entry.key.stripSuffix("*"))).map { entry =>
          s"${pythonName(entry)}(${literal(key.stripPrefix(entry.key.stripSuffix("*")))}, …)"
        })
        .getOrElse(key)
  }

  private def inPythonValue(value: String): String = value match {
    case "true" => "True"
    case "false" => "False"
    case number if number.matches("-?\\d+") => number
    case word if word.matches("\\w+") => literal(word)
    case other => other
  }

  /** Lines of at most 105 characters, so that they have at most 120 with indentation and quotes. */
  private def wrapped(text: String): Seq[String] = text.split(' ').foldLeft(Vector.empty[String]) {
    case (lines :+ last, word) if last.length + word.length < 105 => lines :+ s"$last $word"
    case (lines, word) => lines :+ word
  }
}
