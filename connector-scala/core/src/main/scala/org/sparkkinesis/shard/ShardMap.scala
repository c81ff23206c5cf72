package org.sparkkinesis.shard

import org.sparkkinesis.model.{HashKeyRange, HashPoint, Shard, ShardId}

/** Maps hash keys to open shards. Immutable. Shards are numbered from 0 in the order of their ranges. */
final class ShardMap private (open: Array[Shard]) {
  private val starts = open.map(shard => HashPoint.of(shard.hashKeyRange.start))
  private val ranges: Map[ShardId, HashKeyRange] = open.iterator.map(shard => shard.id -> shard.hashKeyRange).toMap

  def size: Int = open.length
  def shard(index: Int): ShardId = open(index).id

  /** Number of the shard whose range contains the hash key. */
  def indexOf(point: HashPoint): Int = {
    var low = 0
    var high = open.length - 1
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      if (starts(middle) <= point) low = middle else high = middle - 1
    }
    low
  }

  def shardOf(point: HashPoint): ShardId = shard(indexOf(point))

  /** Whether the range of the shard contains the hash key; false for an unknown shard. */
  def takes(shard: ShardId, point: HashPoint): Boolean = ranges.get(shard).exists(_.contains(point.toBigInt))

  /**
   * Whether a record with this hash key in this shard proves that the stream ignores hash keys. The range of a shard
   * never changes, so a reshard cannot be the reason.
   */
  def isRefutedBy(shard: ShardId, point: HashPoint): Boolean = ranges.get(shard).exists(!_.contains(point.toBigInt))
}

object ShardMap {

  /** Creates a map from the open shards of a listing. Returns `None` if there is none. */
  def of(listed: Seq[Shard]): Option[ShardMap] = {
    val open = listed.filter(_.isOpen).sortBy(_.hashKeyRange.start).toArray
    Option.when(open.nonEmpty)(new ShardMap(open))
  }
}
