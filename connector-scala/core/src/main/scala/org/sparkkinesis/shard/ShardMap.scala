package org.sparkkinesis.shard

import org.sparkkinesis.model.hash.{HashKeyRange, HashPoint}
import org.sparkkinesis.model.{Shard, ShardId}

/**
 * Maps hash keys to open shards. Immutable. Each hash key belongs to exactly one shard. Shards are numbered from 0 in
 * the order of their ranges.
 */
final class ShardMap private (open: Array[Shard]) {
  // Two arrays of numbers, because each record of the sink is compared with some of them.
  private val startHighs = open.map(shard => HashPoint.of(shard.hashKeyRange.start).high)
  private val startLows = open.map(shard => HashPoint.of(shard.hashKeyRange.start).low)
  private val byId: Map[ShardId, Shard] = open.iterator.map(shard => shard.id -> shard).toMap

  def size: Int = open.length
  def shard(index: Int): ShardId = open(index).id
  def knows(shard: ShardId): Boolean = byId.contains(shard)
  def hasShardsOf(other: ShardMap): Boolean = byId.keySet == other.byId.keySet

  /** Number of the shard whose range contains the hash key. */
  def indexOf(point: HashPoint): Int = {
    var low = 0
    var high = open.length - 1
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      if (isStarted(middle, point)) low = middle else high = middle - 1
    }
    low
  }

  private def isStarted(index: Int, point: HashPoint): Boolean = {
    val byHigh = java.lang.Long.compareUnsigned(startHighs(index), point.high)
    byHigh < 0 || byHigh == 0 && java.lang.Long.compareUnsigned(startLows(index), point.low) <= 0
  }

  def shardOf(point: HashPoint): ShardId = shard(indexOf(point))

  /** Whether the range of the shard contains the hash key; false for an unknown shard. */
  def takes(shard: ShardId, point: HashPoint): Boolean =
    byId.get(shard).exists(_.hashKeyRange.contains(point.toBigInt))

  /**
   * Whether a record with this hash key in this shard proves that the stream ignores hash keys or is another stream.
   * The range of a shard never changes, so a reshard cannot be the reason.
   */
  def isRefutedBy(shard: ShardId, point: HashPoint): Boolean = knows(shard) && !takes(shard, point)

  /**
   * Whether both maps may belong to one stream. A recreated stream has shards with the same names and other starting
   * sequence numbers.
   */
  def agreesWith(other: ShardMap): Boolean = open.forall { shard =>
    other.byId.get(shard.id).forall { same =>
      same.hashKeyRange == shard.hashKeyRange && same.startingSequenceNumber == shard.startingSequenceNumber
    }
  }
}

object ShardMap {

  /**
   * Creates a map from the open shards of a listing. `Left` contains the reason why they cannot be the open shards of a
   * stream.
   */
  def of(listed: Seq[Shard]): Either[String, ShardMap] = {
    val open = listed.filter(_.isOpen).distinctBy(_.id).sortBy(_.hashKeyRange.start)
    val overlap = open.zip(open.drop(1)).find { case (one, next) => one.hashKeyRange.end >= next.hashKeyRange.start }
    (overlap, HashKeyRange.gap(HashKeyRange.Whole, open.map(_.hashKeyRange))) match {
      case (Some((one, next)), _) => Left(s"the open shards ${one.id} and ${next.id} contain the same hash keys")
      case (None, Some(gap)) => Left(s"no open shard contains the hash keys ${gap.start} to ${gap.end}")
      case (None, None) => Right(new ShardMap(open.toArray))
    }
  }
}
