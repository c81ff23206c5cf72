package org.sparkkinesis.emulator.action.shard

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.action.stream.StreamRules
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.Quota
import org.sparkkinesis.emulator.engine.stream.Resharding
import org.sparkkinesis.model.KinesisQuotas.Count
import org.sparkkinesis.model.StreamStatus

/**
 * UpdateShardCount scales a stream to equal ranges, to at least half and at most twice its shards. It may create
 * short-lived intermediate shards.
 */
object UpdateShardCount extends Action {
  val name = "UpdateShardCount"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val target = validator.requiredInt("TargetShardCount", 1, Int.MaxValue)
    validator.requiredOneOf("ScalingType", "UNIFORM_SCALING")
    val stream = call.stream(validator)
    ReshardRules.requireProvisioned(stream)
    stream.requireActive()
    val wanted = target.get
    val current = stream.shards.openCount
    if (wanted > current * 2L)
      throw ServiceError.invalidArgument(
        s"UpdateShardCount cannot scale up over double your current open shard count. Current open shard count: " +
          s"$current. Target shard count: $wanted."
      )
    if (wanted * 2L < current)
      throw ServiceError.invalidArgument(
        s"UpdateShardCount cannot scale down below half your current open shard count. Current open shard count: " +
          s"$current. Target shard count: $wanted."
      )
    if (wanted > Count.ShardsByUpdateShardCount)
      throw ServiceError.limitExceeded(
        s"UpdateShardCount cannot scale a stream to more than ${Count.ShardsByUpdateShardCount} shards."
      )
    StreamRules.checkShardLimit(call.namespace, wanted - current)
    call.engine.policy.limit(Quota.ChangesPerDay, Count.UpdateShardCountPerDay).foreach { limit =>
      if (!stream.admitChange(name, limit, call.now))
        throw ServiceError.limitExceeded(
          s"UpdateShardCount may be called ${limit.toInt} times in a rolling 24-hour period for stream ${stream.name}."
        )
    }
    stream.change(StreamStatus.Updating, call.engine.delays.update) { () =>
      val shards = stream.shards
      stream.reshard(Resharding.uniform(shards.openShards.map(ReshardRules.planned), wanted, shards.nextIndex))
    }
    Answer.body { reply =>
      reply.obj {
        reply.field("StreamName", stream.name)
        reply.field("CurrentShardCount", current.toLong)
        reply.field("TargetShardCount", wanted.toLong)
        reply.field("StreamARN", stream.arn)
      }
    }
  }
}
