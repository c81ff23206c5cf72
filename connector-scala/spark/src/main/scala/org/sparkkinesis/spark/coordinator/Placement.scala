package org.sparkkinesis.spark.coordinator

import scala.collection.mutable

import org.sparkkinesis.model.StreamShard

/**
 * Which executor reads which shard. Pure: the same input gives the same placement.
 *
 * Numbers of shards differ by at most one between executors when shards are placed anew; what is placed already stays, unless an
 * executor has more than its share, and then only a few move at a time.
 */
object Placement {

  /**
   * How many shards of so many move away from executors that live, at most, each time it is asked: few, so that no storm of new reads
   * arises, and so many that a new executor has its share after some dozen rounds.
   */
  def movesAtOnce(shards: Int): Int = math.max(16, shards / 32)

  /**
   * @param current
   *   owners of shards; those that are not in `executors` any more are ignored
   * @param near
   *   the shard whose owner is preferred, a parent's, if there is room
   */
  def place(
      shards: Seq[StreamShard],
      executors: Seq[String],
      current: Map[StreamShard, String],
      near: StreamShard => Option[String] = _ => None
  ): Map[StreamShard, String] =
    if (executors.isEmpty) Map.empty
    else {
      val living = executors.toSet
      val placed =
        mutable.LinkedHashMap.from(shards.flatMap(shard => current.get(shard).filter(living).map(shard -> _)))
      val load = mutable.Map.from(executors.map(_ -> 0))
      placed.valuesIterator.foreach(owner => load(owner) += 1)
      val most = (shards.size + executors.size - 1) / executors.size

      def leastLoaded: String = executors.minBy(executor => (load(executor), executor))
      def give(shard: StreamShard, owner: String): Unit = {
        placed(shard) = owner
        load(owner) += 1
      }

      shards.filterNot(placed.contains).foreach { shard =>
        give(shard, near(shard).filter(owner => living(owner) && load(owner) < most).getOrElse(leastLoaded))
      }
      val moves = placed.toVector.iterator.filter { case (_, owner) => load(owner) > load(leastLoaded) + 1 }
      moves.take(movesAtOnce(shards.size)).foreach { case (shard, owner) =>
        if (load(owner) > load(leastLoaded) + 1) {
          load(owner) -= 1
          give(shard, leastLoaded)
        }
      }
      placed.toMap
    }
}
