package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.KinesisQuotas.Record

/** UpdateMaxRecordSize sets 1,024 to 10,240 KiB for new records. */
object UpdateMaxRecordSize extends Action {
  val name = "UpdateMaxRecordSize"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val size = validator.requiredInt("MaxRecordSizeInKiB", Record.MaxRecordSizeKiB.start, Record.MaxRecordSizeKiB.end)
    val stream = call.stream(validator)
    stream.requireActive()
    Changes.of(call, stream)(stream.update(_.copy(maxRecordKiB = size.get)))
    Answer.Empty
  }
}

/**
 * UpdateStreamWarmThroughput sets the warm throughput of on-demand streams in accounts with a throughput commitment.
 */
object UpdateStreamWarmThroughput extends Action {
  val name = "UpdateStreamWarmThroughput"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val wanted = validator.requiredInt("WarmThroughputMiBps", 0, Int.MaxValue)
    val stream = call.stream(validator)
    stream.requireActive()
    Changes.requireWarmable(call, stream.settings.onDemand)
    Changes.of(call, stream)(stream.update(_.copy(warmThroughputMiBps = wanted)))
    Answer.body { reply =>
      reply.obj {
        reply.field("StreamARN", stream.arn)
        reply.field("StreamName", stream.name)
        reply.obj("WarmThroughput") {
          reply.field("TargetMiBps", wanted.get.toLong)
          reply.field("CurrentMiBps", stream.settings.warmThroughputMiBps.getOrElse(0).toLong)
        }
      }
    }
  }
}

/** UpdateStreamRecordDistributionStrategy sets AUTO, which ignores partition keys, for on-demand streams. */
object UpdateStreamRecordDistributionStrategy extends Action {
  val name = "UpdateStreamRecordDistributionStrategy"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.present("StreamARN")
    val strategy = validator.requiredOneOf("RecordDistributionStrategy", "AUTO", "USER_PARTITION_KEY")
    val stream = call.stream(validator)
    stream.requireActive()
    val auto = strategy.contains("AUTO")
    if (auto && !stream.settings.onDemand)
      throw ServiceError.invalidArgument("RecordDistributionStrategy AUTO needs a stream in ON_DEMAND mode.")
    Changes.of(call, stream)(stream.update(_.copy(distributesItself = auto)))
    Answer.Empty
  }
}
