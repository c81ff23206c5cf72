package org.sparkkinesis.reference

import org.sparkkinesis.config._

/** `docs/options.md`: meaning, accepted values and default of each option. */
object OptionsPage {
  private val retries: Set[String] = RetryOptions.all.map(_.key).toSet

  def text: String = Seq(introduction, Scope.all.map(section).mkString("\n"), retrySection, firehose).mkString("\n")

  private def introduction: String =
    s"""# Options
       |
       |<!-- Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command} -->
       |
       |Option names are not case-sensitive. An unknown name is an error that suggests the nearest name, and every
       |value is checked before a query starts. A size is a number of bytes, or has a unit (`512k`, `64m`, `1g`,
       |powers of 1024). A duration is a number of milliseconds, or has a unit (`250ms`, `10s`, `15m`, `1h`, `2d`).
       |In Python, every option is a method and a keyword of `KinesisSource`, `KinesisSink` or `FirehoseSink`, in snake
       |case. [migration.md](migration.md) has the names that other connectors use, and [errors.md](errors.md) explains
       |the errors.
       |
       |**Query type** and **Applies with** say where an option has an effect. An option that is set and has none is
       |reported: as a warning of the query, or as the error `KINESIS_OPTION_WITHOUT_EFFECT` if it is certainly a
       |mistake, such as an option of writes that `spark.read` itself sets. A table may have
       |options for reads and for writes.
       |""".stripMargin

  private def retrySection: String =
    s"""## Retries
       |
       |One rule applies to reads and writes. A call is retried if it was throttled, if the service failed, or if
       |there was no answer, and `retry.recoverableErrors` adds failures to these. A call that cannot succeed is
       |never retried: for example, the stream does not exist, a permission is missing, or an argument is not valid.
       |Before a retry there is a random pause. Its upper bound begins at `backoff.base` and grows by the factor
       |`backoff.exponent`, up to `backoff.max`. The options are `retry.<operation>.maxRetries` (-1 means no limit),
       |`retry.<operation>.backoff.base`, `.backoff.max` and `.backoff.exponent`.
       |
       || `<operation>` | Used by | `maxRetries` | `backoff.base` | `backoff.max` | `backoff.exponent` |
       ||---|---|---|---|---|---|
       |""".stripMargin + RetryOptions.tunable.map(retry).mkString("", "\n", "\n") +
      s"""|
       || Option | Meaning | Takes | Default | Query type | Applies with | Since |
       ||---|---|---|---|---|---|---|
       |${row(RetryOptions.recoverableErrors)}
       |
       |A write has these rules in addition:
       |
       |- `deliveryTimeout` limits all retries of a record and of the calls before it. With `infinite`, nothing does.
       |- `retry.putRecords` applies to each record, also if only a part of a request fails. Its pause is at least half
       |  of the upper bound. Throttling does not count for `retry.putRecords.maxRetries`.
       |- A listing of shards for which records wait is not retried at once. The records are sent without it where
       |  that is correct, and the pause is before the next listing.
       |- If the first call to an address gets no answer at all, it is retried five times at most, because the address
       |  is probably wrong.
       |""".stripMargin

  private def firehose: String = {
    val (same, own) = FirehoseOptions.all.partition(ConnectorOptions.all.contains(_))
    val retried = RetryOptions.putRecordBatch.all.toSet[ConfigEntry[_]]
    s"""## Amazon Data Firehose
       |
       |The options of the format `firehose`. ${same.map(entry => s"`${shownKey(entry)}`").mkString(", ")} have
       |the meaning and the default above. `retry.putRecordBatch` has the options and defaults of `retry.putRecords`.
       |
       || Option | Meaning | Takes | Default | Query type | Applies with | Since |
       ||---|---|---|---|---|---|---|
       |""".stripMargin + own.filterNot(retried).map(row).mkString("", "\n", "\n")
  }

  private def shownKey(entry: ConfigEntry[_]): String = entry.key.replace(".*", s".<${entry.placeholder}>")

  private def section(scope: Scope): String = {
    val rows = ConnectorOptions.all.filter(entry => entry.scope == scope && !retries(entry.key)).map(row)
    val header =
      "| Option | Meaning | Takes | Default | Query type | Applies with | Since |\n|---|---|---|---|---|---|---|"
    s"## ${scope.title}\n\n$header\n${rows.mkString("\n")}\n"
  }

  private def row(entry: ConfigEntry[_]): String = {
    val name = s"`${shownKey(entry)}`"
    val cells = Seq(name, cell(entry.doc), cell(takes(entry)), default(entry), queryType(entry), needs(entry))
    (cells :+ entry.since).mkString("| ", " | ", " |")
  }

  private def queryType(entry: ConfigEntry[_]): String = EffectText.queryType(entry.effect.queries)

  /** The conditions of the effect; for an option of one side in the section of both sides, the side as well. */
  private def needs(entry: ConfigEntry[_]): String = {
    val side = Option.when(entry.scope == Scope.Connection && entry.effect.sides.size == 1)(
      s"${entry.effect.sides.head.word}s"
    )
    (side ++ Option(EffectText.requirements(entry.effect)).filter(_.nonEmpty)).mkString(", ")
  }

  private def takes(entry: ConfigEntry[_]): String =
    entry.kind.expected + (if (entry.sensitive) ", or a [reference](cluster.md#secrets)" else "")

  private def retry(entries: RetryEntries): String =
    (Seq(s"`${entries.operation.retryKey}`", users(entries)) ++ entries.all.map(default)).mkString(
      "| ",
      " | ",
      " |"
    )

  private def users(entries: RetryEntries): String = {
    val effect = entries.maxRetries.effect
    val kind = if (effect.queries == QueryType.all.toSet) "" else s"${EffectText.queryType(effect.queries)} "
    val sides = Side.all.filter(effect.sides).map(side => s"$kind${side.word}s").mkString(", ")
    Seq(sides, EffectText.requirements(effect)).filter(_.nonEmpty).mkString(" with ")
  }

  private def default(entry: ConfigEntry[_]): String = cell(entry.default.fold(entry.defaultDoc)(text => s"`$text`"))

  private def cell(text: String): String = text.replace("|", "\\|").replace("\n", " ")
}
