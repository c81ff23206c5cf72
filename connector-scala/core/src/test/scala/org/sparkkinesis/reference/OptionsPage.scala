package org.sparkkinesis.reference

import org.sparkkinesis.config._

/** `docs/options.md`: what every option means, takes and defaults to. */
object OptionsPage {
  private val retries: Set[String] = RetryOptions.reading.flatMap(_.all).map(_.key).toSet

  def text: String = Seq(introduction, Scope.all.map(section).mkString("\n"), retrySection).mkString("\n")

  private def introduction: String =
    s"""# Options
       |
       |<!-- Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command} -->
       |
       |Names are taken without regard to case. An unknown name is an error that suggests the nearest one, and every value is
       |checked before a query starts. Sizes are bytes, or have a unit (`512k`, `64m`, `1g`, powers of 1024); durations are
       |milliseconds, or have a unit (`250ms`, `10s`, `15m`, `1h`, `2d`). In Python every option is a method and a keyword
       |of `KinesisSource` or `KinesisSink`, in snake case. The names that other connectors use are in
       |[migration.md](migration.md), what the errors mean in [errors.md](errors.md).
       |""".stripMargin

  private def retrySection: String =
    s"""## Retries
       |
       |Each call of the service below is tried again after a random wait, whose upper bound begins at `backoff.base` and grows
       |by `backoff.exponent` up to `backoff.max`. The options are `retry.<operation>.maxRetries` (-1: without end),
       |`retry.<operation>.backoff.base`, `.backoff.max` and `.backoff.exponent`. What cannot succeed is never tried again: no
       |such stream, no permission, an argument that is not valid.
       |
       || `<operation>` | `maxRetries` | `backoff.base` | `backoff.max` | `backoff.exponent` |
       ||---|---|---|---|---|
       |""".stripMargin + RetryOptions.reading.map(retry).mkString("", "\n", "\n")

  private def section(scope: Scope): String = {
    val rows = ConnectorOptions.all.filter(entry => entry.scope == scope && !retries(entry.key)).map(row)
    s"## ${scope.title}\n\n| Option | Meaning | Takes | Default |\n|---|---|---|---|\n${rows.mkString("\n")}\n"
  }

  private def row(entry: ConfigEntry[_]): String = {
    val name = s"`${entry.key.replace(".*", ".<stream>")}`"
    val default = entry.default.fold(entry.defaultDoc)(text => s"`$text`")
    s"| $name | ${cell(entry.doc)} | ${cell(entry.kind.expected)} | ${cell(default)} |"
  }

  private def retry(entries: RetryEntries): String =
    (s"`${entries.operation.retryKey}`" +: entries.all.map(_.default.fold("")(text => s"`$text`"))).mkString(
      "| ",
      " | ",
      " |"
    )

  private def cell(text: String): String = text.replace("|", "\\|").replace("\n", " ")
}
