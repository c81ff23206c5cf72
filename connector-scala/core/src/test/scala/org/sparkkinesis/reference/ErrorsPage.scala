package org.sparkkinesis.reference

import org.sparkkinesis.error.ErrorConditions

/** `docs/errors.md`: all error conditions. */
object ErrorsPage {
  def text: String = {
    val conditions = ErrorConditions.all.values.toSeq.sortBy(_.name).map { condition =>
      s"## ${condition.name}\n\n${condition.problem}\n\n*Cause:* ${condition.cause}\n\n*Fix:* ${condition.fix}\n"
    }
    s"""# Errors
       |
       |<!-- Made from error-conditions.json; renew with: ${GeneratedFiles.Command} -->
       |
       |Every error of the connector begins with the name of its condition in brackets, followed by the problem, the
       |cause and the fix. `{…}` is a parameter of the message. In Python, `condition_of` of
       |`spark_kinesis` finds the name in any error of Spark; `condition` of `KinesisConnectorError` is the name.
       |
       |${conditions.mkString("\n")}""".stripMargin
  }
}
