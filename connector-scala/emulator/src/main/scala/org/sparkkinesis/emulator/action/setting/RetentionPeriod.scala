package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.KinesisQuotas.Lifetime

/**
 * IncreaseStreamRetentionPeriod and DecreaseStreamRetentionPeriod set 24 to 8,760 hours. Expired records do not
 * become readable again.
 */
sealed abstract class RetentionPeriod(increases: Boolean) extends Action {
  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val hours = validator.requiredInt("RetentionPeriodHours", Int.MinValue, Int.MaxValue)
    val stream = call.stream(validator)
    stream.requireActive()
    val wanted = hours.get
    val current = stream.settings.retentionHours
    val least = Lifetime.RetentionDefault.toHours
    val most = Lifetime.RetentionMax.toHours
    if (wanted < least) throw ServiceError.invalidArgument(
      s"Minimum allowed retention period is $least hours. Requested retention period ($wanted hours) is too short."
    )
    if (wanted > most) throw ServiceError.invalidArgument(
      s"Maximum allowed retention period is $most hours. Requested retention period ($wanted hours) is too long."
    )
    if (increases && wanted < current)
      throw ServiceError.invalidArgument(
        s"Requested retention period ($wanted hours) for stream ${stream.name} can not be shorter than " +
          s"existing retention period ($current hours). Use DecreaseRetentionPeriod API."
      )
    if (!increases && wanted > current)
      throw ServiceError.invalidArgument(
        s"Requested retention period ($wanted hours) for stream ${stream.name} can not be longer than " +
          s"existing retention period ($current hours). Use IncreaseRetentionPeriod API."
      )
    Changes.of(
      call,
      stream
    )(stream.update(_.copy(retentionHours = wanted, expiredBeforeMillis = stream.horizon(call.now))))
    Answer.Empty
  }
}

object IncreaseStreamRetentionPeriod extends RetentionPeriod(increases = true) {
  val name = "IncreaseStreamRetentionPeriod"
}

object DecreaseStreamRetentionPeriod extends RetentionPeriod(increases = false) {
  val name = "DecreaseStreamRetentionPeriod"
}
