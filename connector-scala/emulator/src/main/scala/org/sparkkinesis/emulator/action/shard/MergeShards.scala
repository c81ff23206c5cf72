package org.sparkkinesis.emulator.action.shard

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.stream.Resharding
import org.sparkkinesis.model.{ShardId, StreamStatus}

/**
 * MergeShards merges two adjacent open shards, given in any order. The change takes effect when the stream leaves
 * UPDATING.
 */
object MergeShards extends Action {
  val name = "MergeShards"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val first = validator.requiredString("ShardToMerge", Patterns.ShardId, Patterns.MaxName)
    val second = validator.requiredString("AdjacentShardToMerge", Patterns.ShardId, Patterns.MaxName)
    val stream = call.stream(validator)
    ReshardRules.requireProvisioned(stream)
    stream.requireActive()
    val shard = call.touch(ReshardRules.openShard(stream, ShardId(first.get)))
    val adjacent = ReshardRules.openShard(stream, ShardId(second.get))
    if (!shard.range.isAdjacentTo(adjacent.range))
      throw ServiceError.invalidArgument(
        s"Shards ${shard.id} and ${adjacent.id} in stream ${stream.name} under account ${stream.account} are not an " +
          "adjacent pair of shards eligible for merging"
      )
    stream.change(StreamStatus.Updating, call.engine.delays.update) { () =>
      val plan = Resharding.merge(ReshardRules.planned(shard), ReshardRules.planned(adjacent), stream.shards.nextIndex)
      stream.reshard(plan)
    }
    Answer.Empty
  }
}
