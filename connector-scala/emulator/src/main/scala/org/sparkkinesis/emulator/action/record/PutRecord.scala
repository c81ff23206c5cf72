package org.sparkkinesis.emulator.action.record

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.{SequenceNumbers, ShardLog}
import org.sparkkinesis.emulator.engine.stream.StreamState

/** PutRecord: one record; a full shard refuses the call. */
object PutRecord extends Action {
  val name = "PutRecord"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val ordering = validator.string("SequenceNumberForOrdering", Patterns.SequenceNumber)
    validator.present("Data")
    val stream = call.stream(validator)
    stream.requireUsable()
    val entry = PutRules.read(call.fields, stream, "")
    ordering.foreach(checkOrdering(stream, _))
    val encryption = stream.settings.encryptionType
    val limits = stream.quotaLimits
    val (shard, record) = stream.append(entry, encryption, call.now, limits)
    call.touch(shard)
    if (record eq ShardLog.Throttled)
      throw ServiceError.throughputExceeded(
        s"Rate exceeded for shard ${shard.id} in stream ${stream.name} under account ${stream.account}."
      )
    shard.wake()
    Answer.body { reply =>
      reply.obj {
        reply.field("ShardId", shard.id.value)
        reply.field("SequenceNumber", record.sequenceNumber)
        reply.field("EncryptionType", encryption)
      }
    }
  }

  // Numbers grow within a shard whatever the caller says, so all that is left to do is to refuse what cannot be a number.
  private def checkOrdering(stream: StreamState, number: String): Unit = {
    if (stream.settings.distributesItself)
      throw ServiceError.invalidArgument(
        "SequenceNumberForOrdering cannot be used with RecordDistributionStrategy AUTO."
      )
    if (SequenceNumbers.decode(number).isEmpty)
      throw ServiceError.invalidArgument(
        s"ExclusiveMinimumSequenceNumber $number used in PutRecord on stream ${stream.name} under account " +
          s"${stream.account} is invalid."
      )
  }
}
