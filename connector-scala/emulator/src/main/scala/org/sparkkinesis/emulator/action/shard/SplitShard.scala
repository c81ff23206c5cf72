package org.sparkkinesis.emulator.action.shard

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.action.stream.StreamRules
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.stream.Resharding
import org.sparkkinesis.model.{ShardId, StreamStatus}

/** SplitShard splits one open shard. The change takes effect when the stream leaves UPDATING. */
object SplitShard extends Action {
  val name = "SplitShard"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val id = validator.requiredString("ShardToSplit", Patterns.ShardId, Patterns.MaxName)
    val newStart = validator.requiredString("NewStartingHashKey", Patterns.HashKey)
    val stream = call.stream(validator)
    ReshardRules.requireProvisioned(stream)
    stream.requireActive()
    val shard = call.touch(ReshardRules.openShard(stream, ShardId(id.get)))
    val hash = BigInt(newStart.get)
    if (hash <= shard.range.start + 1 || hash >= shard.range.end)
      throw ServiceError.invalidArgument(
        s"NewStartingHashKey $hash used in SplitShard() on shard ${shard.id} in stream ${stream.name} under account " +
          s"${stream.account} is not both greater than one plus the shard's StartingHashKey ${shard.range.start} and " +
          s"less than the shard's EndingHashKey ${shard.range.end}."
      )
    StreamRules.checkShardLimit(call.namespace, 1)
    stream.change(StreamStatus.Updating, call.engine.delays.update) { () =>
      stream.reshard(Resharding.split(ReshardRules.planned(shard), hash, stream.shards.nextIndex))
    }
    Answer.Empty
  }
}
