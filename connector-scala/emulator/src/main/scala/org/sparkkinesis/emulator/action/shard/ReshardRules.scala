package org.sparkkinesis.emulator.action.shard

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.ShardLog
import org.sparkkinesis.emulator.engine.stream.{DataStream, PlannedShard}
import org.sparkkinesis.model.ShardId

/** Rules that splitting, merging and scaling share. */
private[shard] object ReshardRules {
  def requireProvisioned(stream: DataStream): Unit = if (stream.settings.onDemand)
    throw ServiceError.validation(
      s"Stream ${stream.name} under account ${stream.account} is in ON_DEMAND mode, in which the service changes the " +
        "shards."
    )

  def openShard(stream: DataStream, id: ShardId): ShardLog = {
    val shard = stream.shard(id)
    if (!shard.isOpen)
      throw ServiceError.invalidArgument(
        s"Shard $id in stream ${stream.name} under account ${stream.account} has already been merged or split, and " +
          "thus is not eligible for merging or splitting."
      )
    shard
  }

  def planned(shard: ShardLog): PlannedShard = PlannedShard(shard.index, shard.range, Nil)
}
