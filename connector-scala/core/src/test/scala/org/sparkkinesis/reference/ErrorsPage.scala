package org.sparkkinesis.reference

import org.sparkkinesis.error.ErrorConditions

/** `docs/errors.md`: every condition that a user can meet. */
object ErrorsPage {
  def text: String = {
    val conditions = ErrorConditions.all.values.toSeq.sortBy(_.name).map { condition =>
      s"## ${condition.name}\n\n${condition.problem}\n\n*Cause:* ${condition.cause}\n\n*Fix:* ${condition.fix}\n"
    }
    s"""# Errors
       |
       |<!-- Made from error-conditions.json; renew with: ${GeneratedFiles.Command} -->
       |
       |Every error of the connector begins with the name of its condition in brackets, then says what is wrong, why, and what
       |to do. `{…}` stands for what the message fills in. In Python, `spark_kinesis.KinesisConnectorError` has the name as
       |`condition`.
       |
       |${conditions.mkString("\n")}""".stripMargin
  }
}
