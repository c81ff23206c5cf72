package org.sparkkinesis.simulation.read

import org.sparkkinesis.plan.offset.{OffsetCodec, ShardPosition}
import org.sparkkinesis.simulation.model.ModelKinesis
import org.sparkkinesis.simulation.spark.CheckpointFolder

/** The shards whose age a checkpoint does not tell, because the driver was killed before it had looked at them. */
object UnseenShards {

  /** Returns streams and shards: those at their oldest record, and the children of those read to their end. */
  def of(checkpoint: CheckpointFolder, service: ModelKinesis): Set[(String, String)] = {
    val logged = checkpoint.latest("offsets").map(_._2).orElse(checkpoint.read("initial-offset"))
    val unseen = for {
      text <- logged.toSeq
      offset <- OffsetCodec.decode(later(checkpoint, text).getOrElse(text)).streams.values
      stream <- service.stream(offset.arn).toSeq
      shard <- stream.shards
      if offset.shards.get(shard.id).contains(ShardPosition.Horizon) ||
        shard.parents.exists(parent => offset.shards.get(parent).contains(ShardPosition.ShardEnd))
    } yield stream.life -> shard.id.value
    unseen.toSet
  }

  /** Returns what the query noted beyond this offset. */
  private def later(checkpoint: CheckpointFolder, logged: String): Option[String] =
    checkpoint.read("read-up-to").map(_.linesIterator.toSeq).collect { case Seq(`logged`, readUpTo) => readUpTo }
}
