package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.action.stream.StreamRules
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.KinesisQuotas.Count

/**
 * UpdateStreamMode switches between provisioned and on-demand mode, at most twice in 24 hours. The shards do not
 * change.
 */
object UpdateStreamMode extends Action {
  val name = "UpdateStreamMode"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.present("StreamARN")
    validator.present("StreamModeDetails")
    val warm = validator.int("WarmThroughputMiBps", 0, Int.MaxValue)
    val stream = call.stream(validator)
    stream.requireActive()
    val onDemand = StreamRules.onDemand(call.fields).get
    if (onDemand == stream.settings.onDemand)
      throw ServiceError.invalidArgument(s"Stream ${stream.name} is in ${stream.settings.modeName} mode already.")
    if (warm.isDefined) Changes.requireWarmable(call, onDemand)
    Changes.admit(call, stream, "mode", Count.StreamModeSwitchesPerDay)
    Changes.of(call, stream) {
      stream.update { s =>
        s.copy(
          onDemand = onDemand,
          distributesItself = s.distributesItself && onDemand,
          warmThroughputMiBps = if (onDemand) warm.orElse(s.warmThroughputMiBps) else None
        )
      }
    }
    Answer.Empty
  }
}
