package org.sparkkinesis.reference

import org.sparkkinesis.config.ForeignOption.{Ignored, Refused, Renamed}
import org.sparkkinesis.config.{Difference, ForeignOption, ForeignOptions, Origin}

/** `docs/migration.md`: the options of other connectors and their treatment. */
object MigrationPage {
  def text: String = introduction + Origin.all.map(section).mkString("\n") + checkpoints

  private def introduction: String =
    s"""# Coming from another connector
       |
       |<!-- Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command} -->
       |
       |The columns are those of Databricks' `kinesis` format, and most option names are the same. The format has a
       |second name, `aws-kinesis`, for platforms on which another connector has the name `kinesis`. The tables below
       |have every other option of the connectors that they name:
       |
       |- **renamed**: the option is accepted, with a warning that has its name here;
       |- **ignored**: the option is accepted, has no effect, and a warning says why;
       |- **refused**: the option is an error (`KINESIS_OPTION_UNSUPPORTED`) that says what to do instead.
       |
       |An option that is in none of the tables and not in [options.md](options.md) is an error
       |(`KINESIS_OPTION_UNKNOWN`).
       |
       |Below the options of each connector are the behaviours that differ although no option is set.
       |
       |""".stripMargin

  private def section(origin: Origin): String = {
    val rows = ForeignOptions.all.filter(_.origins.contains(origin)).map(row).sorted
    val title = s"${origin.title.head.toUpper}${origin.title.tail}"
    val options = s"## $title\n\n| Option | | Here |\n|---|---|---|\n${rows.mkString("\n")}\n"
    val differences = Difference.all.filter(_.origin == origin).map { one =>
      s"| ${one.what} | ${one.there} | ${one.here} |"
    }
    if (differences.isEmpty) options
    else s"$options\nChanged behaviour:\n\n| | There | Here |\n|---|---|---|\n${differences.mkString("\n")}\n"
  }

  private def row(option: ForeignOption): String = option match {
    case renamed: Renamed =>
      val note = if (renamed.note.isEmpty) "" else s": ${renamed.note}"
      s"| `${option.name}` | renamed | `${renamed.entry.key}`$note |"
    case ignored: Ignored => s"| `${option.name}` | ignored | ${marked(ignored.reason)} |"
    case refused: Refused => s"| `${option.name}` | refused | ${marked(s"${refused.reason} ${refused.fix}")} |"
  }

  /** Formats quoted names as code. */
  private def marked(text: String): String = text.replaceAll("\\B'([^' ]+)'", "`$1`")

  private def checkpoints: String =
    """
      |## Checkpoints
      |
      |A checkpoint of another connector cannot be used, because it does not hold the position up to which each
      |shard was read. Stop the old query, note the arrival time of the last record that it processed, and start
      |the new query with a new `checkpointLocation` and with `initialPosition` set to that time. Rows that arrived
      |at exactly that time may be read twice.
      |""".stripMargin
}
