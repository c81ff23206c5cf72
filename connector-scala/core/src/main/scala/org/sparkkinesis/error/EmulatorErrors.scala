package org.sparkkinesis.error

/** The emulator cannot run. One method for each condition, with its parameters. */
object EmulatorErrors {

  def failed(what: String, reason: String, fix: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_EMULATOR_FAILED", "what" -> what, "reason" -> reason, "fix" -> fix)
}
