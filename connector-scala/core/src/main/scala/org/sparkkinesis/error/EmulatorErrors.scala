package org.sparkkinesis.error

/** Errors of the emulator. Each method creates the error of one condition. */
object EmulatorErrors {

  def failed(what: String, reason: String, fix: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_EMULATOR_FAILED", "what" -> what, "reason" -> reason, "fix" -> fix)
}
