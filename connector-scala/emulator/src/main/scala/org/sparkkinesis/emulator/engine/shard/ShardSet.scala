package org.sparkkinesis.emulator.engine.shard

import org.sparkkinesis.model.ShardId
import org.sparkkinesis.model.hash.HashPoint

/**
 * An immutable snapshot of the shards of a stream: all shards that have not expired by index, and the open shards by
 * range.
 */
final class ShardSet private (val all: Vector[ShardLog], open: Array[ShardLog]) {

  /** The open shards in the order of their hash ranges. */
  def openShards: Vector[ShardLog] = open.toVector
  def openCount: Int = open.length

  /** The index of the next new shard. Indices only increase. */
  def nextIndex: Long = if (all.isEmpty) 0 else all.last.index + 1

  /** Returns the open shard for a hash. The ranges of the open shards cover the whole key space. */
  def owner(hash: HashPoint): ShardLog = {
    var low = 0
    var high = open.length - 1
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      if (open(middle).startPoint <= hash) low = middle else high = middle - 1
    }
    open(low)
  }

  def get(id: ShardId): Option[ShardLog] = ShardSet.indexOf(id).flatMap(byIndex)

  def byIndex(index: Long): Option[ShardLog] = {
    val at = positionFrom(index)
    if (at < all.length && all(at).index == index) Some(all(at)) else None
  }

  /** Returns the position in `all` of the first shard with this index or a greater one. */
  def positionFrom(index: Long): Int = ShardSet.positionFrom(all, index)

  /** Returns up to `size` accepted shards with an index above `index`, in order. */
  def pageAfter(index: Long, size: Int)(accepts: ShardLog => Boolean): Vector[ShardLog] =
    ShardSet.pageAfter(all, index, size)(accepts)

  def childrenOf(index: Long): Vector[ShardLog] =
    all.drop(positionFrom(index + 1)).filter(s => s.parent.contains(index) || s.adjacentParent.contains(index))

  def plus(shards: Seq[ShardLog]): ShardSet = ShardSet(all ++ shards)

  def without(gone: ShardLog => Boolean): ShardSet = ShardSet(all.filterNot(gone))
}

object ShardSet {
  private val Name = """shardId-(\d{12})""".r

  def apply(shards: Seq[ShardLog]): ShardSet =
    new ShardSet(shards.toVector, shards.filter(_.takesRecords).sortBy(_.range.start).toArray)

  // It takes any sequence, so that a test can count the accesses: the shards of the page and one binary search.
  private[engine] def pageAfter(all: IndexedSeq[ShardLog], index: Long, size: Int)(
      accepts: ShardLog => Boolean
  ): Vector[ShardLog] = {
    val page = Vector.newBuilder[ShardLog]
    var found = 0
    var at = positionFrom(all, index + 1)
    while (found < size && at < all.length) {
      val shard = all(at)
      if (accepts(shard)) {
        page += shard
        found += 1
      }
      at += 1
    }
    page.result()
  }

  private def positionFrom(all: IndexedSeq[ShardLog], index: Long): Int = {
    var low = 0
    var high = all.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (all(middle).index >= index) high = middle else low = middle + 1
    }
    low
  }

  def indexOf(id: ShardId): Option[Long] = id.value match {
    case Name(digits) => Some(digits.toLong)
    case _ => None
  }
}
