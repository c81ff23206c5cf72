package org.sparkkinesis.emulator.action.record

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.{SequenceNumbers, ShardLog}
import org.sparkkinesis.emulator.engine.stream.DataStream

/** PutRecord writes one record. The call fails if the write limit of the shard is exceeded. */
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

  // The sequence numbers of a shard always increase, so the value only has to be a valid sequence number.
  private def checkOrdering(stream: DataStream, number: String): Unit = {
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
