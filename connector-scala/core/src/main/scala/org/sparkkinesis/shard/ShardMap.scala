package org.sparkkinesis.shard

import org.sparkkinesis.model.{HashKeyRange, HashPoint, Shard, ShardId}

/** Which open shard takes which hash key; immutable. Shards are numbered from 0 in the order of their ranges. */
final class ShardMap private (open: Array[Shard]) {
  private val starts = open.map(shard => HashPoint.of(shard.hashKeyRange.start))
  private val ranges: Map[ShardId, HashKeyRange] = open.iterator.map(shard => shard.id -> shard.hashKeyRange).toMap

  def size: Int = open.length
  def shard(index: Int): ShardId = open(index).id

  /** The number of the shard that takes keys of this hash, as far as the map knows. */
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

  /** Whether the shard takes the hash key; false for a shard that the map does not know. */
  def takes(shard: ShardId, point: HashPoint): Boolean = ranges.get(shard).exists(_.contains(point.toBigInt))

  /**
   * Whether the stream cannot go by hash keys, when it put a record of this one into this shard: the range of a shard never
   * changes, so no reshard explains it.
   */
  def isRefutedBy(shard: ShardId, point: HashPoint): Boolean = ranges.get(shard).exists(!_.contains(point.toBigInt))
}

object ShardMap {

  /** Of a listing's open shards; `None` when it has none. */
  def of(listed: Seq[Shard]): Option[ShardMap] = {
    val open = listed.filter(_.isOpen).sortBy(_.hashKeyRange.start).toArray
    Option.when(open.nonEmpty)(new ShardMap(open))
  }
}
