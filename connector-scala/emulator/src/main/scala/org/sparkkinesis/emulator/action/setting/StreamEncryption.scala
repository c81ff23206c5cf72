package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.KinesisQuotas.Count

/**
 * StartStreamEncryption and StopStreamEncryption set the encryption type that new records report. Records are not
 * encrypted.
 */
sealed abstract class StreamEncryption(starts: Boolean) extends Action {
  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val kind = validator.requiredOneOf("EncryptionType", "NONE", "KMS")
    val key = validator.requiredString("KeyId", maxLength = StreamEncryption.MaxKeyId)
    val stream = call.stream(validator)
    stream.requireActive()
    if (!kind.contains("KMS")) throw ServiceError.invalidArgument("EncryptionType must be KMS.")
    Changes.admit(call, stream, "encryption", Count.EncryptionChangesPerDay)
    Changes.of(call, stream)(stream.update(_.copy(encryptionKey = if (starts) key else None)))
    Answer.Empty
  }
}

private object StreamEncryption {
  val MaxKeyId = 2048
}

object StartStreamEncryption extends StreamEncryption(starts = true) {
  val name = "StartStreamEncryption"
}

object StopStreamEncryption extends StreamEncryption(starts = false) {
  val name = "StopStreamEncryption"
}
