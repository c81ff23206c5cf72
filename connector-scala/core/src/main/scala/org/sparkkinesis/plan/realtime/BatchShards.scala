package org.sparkkinesis.plan.realtime

import org.sparkkinesis.model.StreamShard

/**
 * The shards of the start of a real-time batch, in eight bytes each, because every task of the batch gets all of them.
 *
 * @param indexes
 *   the sorted indexes of the shards of each stream, by its ARN
 * @param others
 *   shards whose names have no index
 */
final class BatchShards private (indexes: Map[String, Array[Long]], others: Set[StreamShard]) extends Serializable {
  def contains(shard: StreamShard): Boolean = shard.shard.index.fold(others(shard)) { index =>
    indexes.get(shard.stream).exists(java.util.Arrays.binarySearch(_, index) >= 0)
  }
}

object BatchShards {
  val Empty: BatchShards = of(Nil)

  def of(shards: Iterable[StreamShard]): BatchShards = {
    val (others, indexed) =
      shards.partitionMap(one =>
        one.shard.index.fold[Either[StreamShard, (String, Long)]](Left(one))(i => Right(one.stream -> i))
      )
    new BatchShards(
      indexed.groupMap(_._1)(_._2).map { case (stream, all) => stream -> all.toArray.sorted },
      others.toSet
    )
  }
}
