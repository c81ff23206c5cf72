package org.sparkkinesis.reference

import org.sparkkinesis.config._

/** `docs/options.md`: meaning, accepted values and default of each option. */
object OptionsPage {
  private val retries: Set[String] = RetryOptions.reading.flatMap(_.all).map(_.key).toSet

  def text: String = Seq(introduction, Scope.all.map(section).mkString("\n"), retrySection).mkString("\n")

  private def introduction: String =
    s"""# Options
       |
       |<!-- Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command} -->
       |
       |Option names are not case-sensitive. An unknown name is an error that suggests the nearest name, and every
       |value is checked before a query starts. A size is a number of bytes, or has a unit (`512k`, `64m`, `1g`,
       |powers of 1024). A duration is a number of milliseconds, or has a unit (`250ms`, `10s`, `15m`, `1h`, `2d`).
       |In Python, every option is a method and a keyword of `KinesisSource` or `KinesisSink`, in snake case.
       |[migration.md](migration.md) has the names that other connectors use, and [errors.md](errors.md) explains
       |the errors.
       |""".stripMargin

  private def retrySection: String =
    s"""## Retries
       |
       |The calls below are retried after a random pause. The upper bound of the pause begins at `backoff.base` and
       |grows by the factor `backoff.exponent`, up to `backoff.max`. The options are `retry.<operation>.maxRetries`
       |(-1 means no limit), `retry.<operation>.backoff.base`, `.backoff.max` and `.backoff.exponent`. A call that
       |cannot succeed is never retried: for example, the stream does not exist, a permission is missing, or an
       |argument is not valid.
       |
       || `<operation>` | `maxRetries` | `backoff.base` | `backoff.max` | `backoff.exponent` |
       ||---|---|---|---|---|
       |""".stripMargin + RetryOptions.reading.map(retry).mkString("", "\n", "\n")

  private def section(scope: Scope): String = {
    val rows = ConnectorOptions.all.filter(entry => entry.scope == scope && !retries(entry.key)).map(row)
    val header = "| Option | Meaning | Takes | Default | Since |\n|---|---|---|---|---|"
    s"## ${scope.title}\n\n$header\n${rows.mkString("\n")}\n"
  }

  private def row(entry: ConfigEntry[_]): String = {
    val name = s"`${entry.key.replace(".*", ".<stream>")}`"
    val default = entry.default.fold(entry.defaultDoc)(text => s"`$text`")
    s"| $name | ${cell(entry.doc)} | ${cell(entry.kind.expected)} | ${cell(default)} | ${entry.since} |"
  }

  private def retry(entries: RetryEntries): String =
    (s"`${entries.operation.retryKey}`" +: entries.all.map(_.default.fold("")(text => s"`$text`"))).mkString(
      "| ",
      " | ",
      " |"
    )

  private def cell(text: String): String = text.replace("|", "\\|").replace("\n", " ")
}
